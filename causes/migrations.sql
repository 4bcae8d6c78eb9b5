-- cause migrations: threads migrate between CPUs
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time process cpu
-- specific: 5
-- says: {slow_moves} migrations per unit of work (baseline {against_moves})
-- evidence: time in migrations per unit of work: {slow:s} (baseline {against:s})
-- check: perf stat -e migrations; pidstat -t 1
-- try: pin threads, or stop changing their masks at run time (sched_setaffinity); fewer, longer wake-ups
-- see: sched_setaffinity(2)
with wakeups as materialized (select max(slow - coalesce(against, 0)) as more from total
    where metric = 'thread_time.wakeups'),
-- Some of the threads that are woken are put on another CPU: moves that come with more waiting are not its cause.
moves as materialized (
    select slow as slow_moves, coalesce(against, 0) as against_moves from total, wakeups
    where metric = 'thread_time.migrations' and slow > 2 * coalesce(against, 0) and slow_rate > 500
        and slow - coalesce(against, 0) > 0.5 * coalesce(more, 0)
),
cells as materialized (
    select cell, slow, against from budget
    where (state in ('kernel', 'user', 'other') and (request in ('sched_setaffinity', 'switch')
        or path glob '*;migration_cpu_stop;*' or path glob '*affine_move_task*' or path glob '*stop_one_cpu*'
        or path glob '*;schedule;*' or path glob '*set_cpus_allowed*'
           or path glob '*sched_setaffinity*'))
       or (state = 'runnable' and share > 0)
),
-- After a move the caches of the new CPU have to be filled: some 20 µs, at most what the threads' own code got slower
-- by.
refills as materialized (
    select min(1.0, 2e-5 * (slow_moves - against_moves) / nullif((select sum(slow - against) from budget
        where state = 'user' and fresh = 0), 0)) as part from moves
),
-- A thread that may not stay where it is has another thread, the kernel's, take it away.
movers as materialized (
    select sum(iif(side = 'slow', cpu_time, -cpu_time) * per_second) / nullif((select slow - coalesce(against, 0)
        from measure where name = 'others'), 0) as part
    from w_process where comm = 'migration'
),
all_cells as materialized (
    select cell, slow, against, 1.0 as part from cells
    union all select cell, slow, against, min(m.part, 1.0) from budget, movers m where state = 'neighbours'
        and share > 0 and m.part > 0
    union all select cell, slow, against, part from budget, refills where state = 'user' and fresh = 0 and part > 0
        and cell not in (select cell from cells)
)
select 'threads' as subject, c.cell, c.part, m.slow_moves, m.against_moves, sum(c.slow) over () as slow,
    sum(c.against) over () as against from all_cells c, moves m
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
