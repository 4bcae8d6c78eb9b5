-- cause timers: timers interrupt the work
-- layer: kernel
-- page: interrupts
-- needs: thread_time interrupt_time
-- specific: 6
-- says: timers and their signals take {slow:s} per unit of work (baseline {against:s})
-- evidence: timer expirations per second: {slow_rate} (baseline {against_rate})
-- check: grep LOC /proc/interrupts; cat /proc/timer_list; strace -e trace=timer_settime,setitimer,timerfd_settime -f -p
--   PID
-- try: a longer period: profilers (setitimer, perf -F), heartbeats, timer slack (prctl PR_SET_TIMERSLACK); nohz_full
--   for dedicated CPUs
-- see: timer_create(2), Documentation/timers/no_hz.rst
with runs as materialized (
    select sum(iif(side = 'slow', count * per_second, 0)) as slow_rate,
        sum(iif(side = 'against', count * per_second, 0)) as against_rate
    from w_interrupt_time where kind = 'timer'
),
cells as materialized (
    select cell, slow, against, state from budget
    where (state in ('kernel', 'user', 'stolen') and (path glob '*hrtimer_interrupt*'
        or path glob '*apic_timer_interrupt*' or path glob '*run_timer*' or path glob '*it_real_fn*'
        or path glob '*;posix_cpu_timers*' or path glob '*;run_posix_cpu_timers*' or path glob '*timerfd*'
           or path glob '*;arch_do_signal_or_restart;*' or path glob '*;get_signal;*' or path glob '*;__restore_rt;*'
               or request in ('rt_sigreturn', 'setitimer', 'timer_settime', 'timerfd_settime')))
       or state = 'stolen'
),
-- An interrupt, its exit from a virtual machine and a signal cost some 5 µs, most of which the kernel books as the
-- program's own time; where the machine's exits are slow (one virtual machine in another), what the kernel does for a
-- timer takes longer, too, and the way there about as long.
hidden as materialized (
    select min(1.0, max(5e-6 * (r.slow_rate - r.against_rate) * (select slow from measure where name = 'elapsed'),
        (select coalesce(sum(slow - against), 0) from cells
        where state = 'kernel')) / nullif((select sum(slow - against) from budget where state = 'user' and fresh = 0),
        0)) as part
    from runs r where r.slow_rate > 1.5 * r.against_rate + 1000
),
all_cells as materialized (
    select cell, slow, against, 1.0 as part from cells
    union all select cell, slow, against, part from budget, hidden where state = 'user' and fresh = 0 and part > 0
        and cell not in (select cell from cells)
)
select 'timers' as subject, c.cell, c.part, sum(c.slow * c.part) over () as slow,
    sum(c.against * c.part) over () as against, r.slow_rate, r.against_rate
from all_cells c, runs r where r.slow_rate > 1.5 * r.against_rate + 200
-- test claims: five thousand a second
-- w_interrupt_time side=slow kind=timer count=5000 per_second=1
-- w_interrupt_time side=against kind=timer count=100 per_second=1
-- budget* state=kernel path=;main;hrtimer_interrupt; slow=1
-- budget* state=stolen slow=1
-- budget* state=user slow=3 against=1
-- budget state=lock slow=1
-- test refuses: those of every kernel
-- w_interrupt_time side=slow kind=timer count=250 per_second=1
-- w_interrupt_time side=against kind=timer count=100 per_second=1
-- budget state=kernel path=;main;hrtimer_interrupt; slow=1
-- budget state=stolen slow=1
