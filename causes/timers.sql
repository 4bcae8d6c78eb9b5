-- cause timers: timers interrupt the work
-- layer: kernel
-- page: interrupts
-- needs: thread_time interrupt_time
-- yields: compaction goroutine-lock heap-size ipi irq-imbalance memory-limit page-faults priority slow-clock
--   thundering-herd
-- says: timers and their signals take {slow:s} per unit of work (baseline {against:s})
-- evidence: timer expirations per second: {slow_rate} (baseline {against_rate})
-- check: grep LOC /proc/interrupts; cat /proc/timer_list; strace -e trace=timer_settime,setitimer,timerfd_settime -f -p
--   PID
-- try: a longer period: profilers (setitimer, perf -F), heartbeats, timer slack (prctl PR_SET_TIMERSLACK); nohz_full
--   for dedicated CPUs
-- experiment: parameter timer-period: x1 x10
-- see: timer_create(2), Documentation/timers/no_hz.rst
-- when:
with runs as materialized (
    select sum(iif(side = 'slow', count * per_second, 0)) as slow,
           sum(iif(side = 'against', count * per_second, 0)) as against
    from w_interrupt_time where kind = 'timer' having count(*) > 0
)
select ramp(slow - 1.5 * against, 150, 250) as score, slow as slow_rate, against as against_rate,
       ramp(slow - 1.5 * against, 700, 1300) as many,
       (select sum(slow - against) from budget where state = 'user' and fresh = 0) as own_grew,
       (select slow from measure where name = 'elapsed') as elapsed
from runs
-- claims:
with code as materialized (
    select cell, state, slow, against,
           has_role(roles, 'signal') and not has_role(roles, 'kernel.timer')
           and coalesce(request, '') not in ('rt_sigreturn', 'setitimer', 'timer_settime', 'timerfd_settime') as handles
    from budget
    where state = 'stolen' or state in ('kernel', 'user')
          and (has_role(roles, 'kernel.timer', 'signal')
               or request in ('rt_sigreturn', 'setitimer', 'timer_settime', 'timerfd_settime'))
)
-- Handlers of timers' signals are short. What takes longer handles other signals, or goes on from there: PostgreSQL
-- before 16 starts its workers in a handler.
select 'timers' as subject, cell,
       iif(handles, coalesce(min(1.0, 1e-4 * slow_rate * elapsed
                                      / nullif((select sum(slow) from code where handles), 0)), 1.0), 1.0) as part
from code, given
union all
-- An interrupt, its exit from a virtual machine and a signal cost some 5 µs, most of which the kernel books as the
-- program's own time; where the machine's exits are slow (one virtual machine in another), what the kernel does for a
-- timer takes longer, too, and the way there about as long.
select 'timers', cell,
       many * min(1.0, max(5e-6 * (slow_rate - against_rate) * elapsed,
                           (select coalesce(sum(slow - against), 0) from code where state = 'kernel')) / own_grew)
from budget, given
where state = 'user' and fresh = 0 and own_grew > 0 and many > 0 and cell not in (select cell from code)
-- test claims: five thousand a second
-- w_interrupt_time side=slow kind=timer count=5000 per_second=1
-- w_interrupt_time side=against kind=timer count=100 per_second=1
-- budget* state=kernel path=;main;hrtimer_interrupt; slow=1
-- budget* state=stolen slow=1
-- budget* state=user slow=3 against=1
-- budget state=lock slow=1
-- test claims: of work that began in a handler no more than handlers take
-- w_interrupt_time side=slow kind=timer count=1000 per_second=1
-- measure name=elapsed slow=1 against=0.1
-- budget* state=user path=;main;__restore_rt;handler;work; slow=1
-- says 'take 100 ms'
-- test refuses: those of every kernel
-- w_interrupt_time side=slow kind=timer count=250 per_second=1
-- w_interrupt_time side=against kind=timer count=100 per_second=1
-- budget state=kernel path=;main;hrtimer_interrupt; slow=1
-- budget state=stolen slow=1
