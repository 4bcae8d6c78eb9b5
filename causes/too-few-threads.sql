-- cause too-few-threads: lower concurrency: too few threads work at once
-- layer: scheduling
-- page: time-budget
-- needs: thread_time
-- specific: 4
-- says: {slow_busy} threads work at once (baseline {against_busy}): concurrency is too low
-- evidence: threads: {threads} (baseline {against_threads}); idle CPUs on average: {idle} (baseline {against_idle})
-- check: twinscope report: threads at once
-- try: more workers: size of the pool, worker_processes, GOMAXPROCS, parallelism of the query or build; more requests
--   in flight
-- experiment: number of threads
-- see: Little, A proof for the queuing formula L = λW, 1961
with busy as materialized (
    select sum(slow_threads) as slow_busy, sum(against_threads) as against_busy from state
        where state not in ('idle', 'runnable', 'fewer_threads')
),
-- Or next to nothing is done at any time: units wait one after another for something outside.
few as materialized (select * from busy where slow_busy < 0.85 * against_busy
    or (slow_busy < 0.5 and (select share from state where state = 'idle') > 0.3)),
threads as (select slow as threads, against as against_threads from measure where name = 'threads'),
idle as (select slow as idle, against as against_idle from measure where name = 'idle_cpus')
select 'threads' as subject, b.cell, 1.0 as part, f.slow_busy, f.against_busy, t.threads, t.against_threads, i.idle,
    i.against_idle
from budget b, few f, threads t, idle i where b.state in ('idle', 'fewer_threads') and b.share > 0
-- test claims: one worker instead of three
-- budget* state=idle slow=4 against=0.5
-- budget state=user slow=1 against=3
-- says '1 threads work at once (baseline 3): concurrency is too low'
-- test refuses: as many at work
-- budget state=idle slow=4 against=0.5
-- budget state=user slow=3 against=3
