-- cause too-few-threads: lower concurrency: too few threads work at once
-- layer: scheduling
-- page: time-budget
-- needs: thread_time
-- yields: net-drops run-queue-wait serial-phase timed-polling
-- says: {slow_busy} threads work at once (baseline {against_busy}): concurrency is too low
-- evidence: threads: {threads} (baseline {against_threads}); idle CPUs on average: {idle} (baseline {against_idle})
-- check: twinscope report: threads at once
-- try: more workers: size of the pool, worker_processes, GOMAXPROCS, parallelism of the query or build; more requests
--   in flight
-- experiment: parameter threads: x1 x2
-- see: Little, A proof for the queuing formula L = λW, 1961
-- when:
with busy as materialized (
    select sum(slow_threads) as slow, sum(against_threads) as against from state
    where state not in ('idle', 'runnable', 'fewer_threads')
), asked as materialized (
    -- A server recorded alone, whose requests are read as they come: it waits for its clients, and more workers would
    -- wait beside it.
    select max(case when role = 'server'
                    then ramp(slow_queue / nullif(slow_turns, 0), 1e-4, 5e-4)
                         * ramp(slow_queue / nullif(slow_time + slow_queue, 0), 0.1, 0.3) end) as queued,
           coalesce(sum(case when role = 'client' then slow_turns end), 0) as asks
    from turn_use where (select against from measure where name = 'threads') is null
)
-- Or next to nothing is done at any time: units wait one after another for something outside.
select max(ramp(-b.slow / b.against, -0.9, -0.8),
           ramp(-b.slow, -0.6, -0.4) * ramp((select share from state where state = 'idle'), 0.25, 0.35)
           * (select case when asks > 0 then 1 else coalesce(queued, 1) end from asked)) as score,
       b.slow as slow_busy, b.against as against_busy, t.slow as threads, t.against as against_threads,
       i.slow as idle, i.against as against_idle
from busy b, measure t, measure i where t.name = 'threads' and i.name = 'idle_cpus'
-- claims:
select 'threads' as subject, cell, 1.0 as part from budget
where state in ('idle', 'fewer_threads') and share > 0
      -- Threads that do no work any more, and wait for data: for them the others wait.
   or state in ('pipe', 'network') and aside = 1 and share > 0
-- test claims: one worker instead of three
-- budget* state=idle slow=4 against=0.5
-- budget state=user slow=1 against=3
-- says '1 threads work at once (baseline 3): concurrency is too low'
-- test refuses: as many at work
-- budget state=idle slow=4 against=0.5
-- budget state=user slow=3 against=3
-- test claims: one run alone in which next to nothing is done
-- measure name=threads slow=2 against=null
-- budget* state=idle slow=4
-- budget state=user slow=0.3
-- test refuses: a server alone that is asked for no more
-- measure name=threads slow=2 against=null
-- turn_use role=server place='port 80' slow_queue=0.0001 slow_time=0.002 slow_turns=1
-- budget state=idle slow=4
-- budget state=user slow=0.3
-- test claims: a server alone whose requests wait
-- measure name=threads slow=2 against=null
-- turn_use role=server place='port 80' slow_queue=0.01 slow_time=0.002 slow_turns=1
-- budget* state=idle slow=4
-- budget state=user slow=0.3
