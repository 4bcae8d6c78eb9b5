-- cause context-switches: threads hand off small pieces of work
-- layer: scheduling
-- page: scheduler profiles
-- needs: thread_time wait
-- yields: cold-cache kernel-lock log-volume migrations net-drops nic-queue noisy-neighbour run-queue-wait serial-phase
--   timed-polling
-- says: {slow_switches} context switches per unit of work (baseline {against_switches}): threads hand off work (waits
--   in state {subject})
-- evidence: switching and waiting for the other thread per unit of work: {slow:s} (baseline {against:s})
-- evidence: mean wait: {mean:s}
-- check: pidstat -w 1; twinscope flame SLOW.twin --state pipe
-- try: hand over more at once: batches, larger messages, a ring buffer in shared memory; or do it in one thread
-- experiment: parameter batch: x1 x4 x16
-- see: sched(7), pipe(7)
-- when:
with
-- Waits that another thread of the workload ends soon are for that thread.
mutual as materialized (
    select state, sum(slow_time) / nullif(sum(slow_count), 0) as mean, sum(slow_count - against_count) as more
    from wait_use
    where state in ('pipe', 'network', 'idle', 'other', 'lock', 'sleep')
      and waker in (select distinct comm from budget where comm is not null)
    group by state having mean < 0.0006
)
select grown(s.slow, s.against, 1.3, 1.7) * ramp(s.slow_rate, 1500, 2500)
       * (select max(ramp(-mean, -0.0006, -0.0004)) from mutual) as score,
       s.slow as slow_switches, coalesce(s.against, 0) as against_switches,
       (select min(mean) from mutual) as mean,
       (select state from mutual order by more desc, state limit 1) as handed_by,
       exists (select 1 from mutual where state in ('pipe', 'network')) as by_data,
       -- Of one run alone, where all CPUs have something to do, nothing is lost by who waits.
       (select max(iif(state = 'lock', 0, 1)) from mutual)
           * iif(p.is_pair, 1.0, ramp(i.slow / c.slow, 0.15, 0.25)) as of_idle
from total s, pair p, measure i, measure c
where s.metric = 'thread_time.switches_voluntary' and i.name = 'idle_cpus' and c.name = 'cpus'
-- claims:
select given.handed_by as subject, cell, iif(state in ('idle', 'fewer_threads'), of_idle, 1.0) as part
from budget, given
where state in ('idle', 'fewer_threads') and share > 0
      -- Who is woken waits until who woke it is gone from that CPU.
   or state = 'runnable' and share > 0
   or state in ('pipe', 'network', 'other') and coalesce(call_group(coalesce(request, what)), '') <> 'sync'
   or state in ('kernel', 'user')
      and (has_role(roles, 'kernel.switch', 'kernel.wake') or request in ('switch', 'futex', 'sched_yield')
           or call_group(request) in ('read', 'write', 'send', 'receive') and by_data
              and not has_role(roles, 'kernel.page-cache', 'kernel.disk'))
-- test claims: a message for each item
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- budget* state=pipe slow=3
-- budget* state=kernel request=switch slow=2
-- budget* state=idle slow=2
-- budget state=user slow=1 against=1
-- says '10 context switches per operation (baseline 2): threads hand off work (waits in state'
-- test refuses: waits that last
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=1
-- budget state=pipe slow=3
-- budget state=idle slow=2
-- test refuses: seldom
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=200
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- budget state=pipe slow=3
-- test claims: mostly through a pipe, whatever comes last in the alphabet
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- wait_use state=sleep waker=app slow_count=3 against_count=2 slow_time=0.0001
-- budget* state=pipe slow=3
-- says 'waits in state pipe'
