-- cause migrations: threads migrate between CPUs
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time process cpu
-- yields: busy-wait cpu-affinity gc lock-contention memory-reclaim safepoints sync-writes timers
-- says: {slow_moves} migrations per unit of work (baseline {against_moves})
-- evidence: time in migrations per unit of work: {slow:s} (baseline {against:s})
-- check: perf stat -e migrations; pidstat -t 1
-- try: pin threads, or stop changing their masks at run time (sched_setaffinity); fewer, longer wake-ups
-- see: sched_setaffinity(2)
-- when:
-- Some of the threads that are woken are put on another CPU: moves that come with more waiting are not its cause.
select grown(m.slow, m.against, 1.7, 2.3) * ramp(m.slow_rate, 350, 650)
       * ramp(coalesce((m.slow - coalesce(m.against, 0)) / nullif(max(w.more, 0), 0), 1e9), 0.4, 0.6) as score,
       m.slow as slow_moves, coalesce(m.against, 0) as against_moves,
       (select sum(slow - against) from budget where state = 'user' and fresh = 0) as own_grew,
       -- A thread that may not stay where it is has another thread, the kernel's, take it away.
       (select sum(iif(side = 'slow', cpu_time, -cpu_time) * per_second)
               / nullif((select slow - coalesce(against, 0) from measure where name = 'others'), 0)
        from w_process where comm = 'migration') as moved_by
from total m, (select max(slow - coalesce(against, 0)) as more from total where metric = 'thread_time.wakeups') w
where m.metric = 'thread_time.migrations'
-- claims:
with moves as materialized (
    select cell from budget
    where state in ('kernel', 'user', 'other') and (request in ('sched_setaffinity', 'switch')
          or has_role(roles, 'kernel.migrate', 'kernel.switch'))
)
select 'threads' as subject, cell, 1.0 as part from moves
union all select 'threads', cell, 1.0 from budget where state = 'runnable' and share > 0
union all select 'threads', cell, min(moved_by, 1.0) from budget, given where state = 'neighbours' and share > 0
    and moved_by > 0
union all
-- After a move the caches of the new CPU have to be filled: some 20 µs, at most what the threads' own code got slower
-- by.
select 'threads', cell, min(1.0, 2e-5 * (slow_moves - against_moves) / own_grew) from budget, given
where state = 'user' and fresh = 0 and own_grew > 0 and slow_moves > against_moves
  and cell not in (select cell from moves)
-- test claims: masks that change all the time
-- total metric=thread_time.migrations slow=10 against=1 slow_rate=5000
-- total metric=thread_time.wakeups slow=5 against=5
-- budget* state=kernel request=sched_setaffinity slow=2
-- budget* state=user slow=3 against=1
-- budget state=lock slow=1
-- says '10 migrations per operation (baseline 1)'
-- test refuses: moves that come with wake-ups
-- total metric=thread_time.migrations slow=10 against=1 slow_rate=5000
-- total metric=thread_time.wakeups slow=100 against=5
-- budget state=kernel request=switch slow=2
