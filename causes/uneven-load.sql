-- cause uneven-load: workers or connections share the work unevenly
-- layer: scheduling
-- page: requests processes
-- needs: thread_time turn turn_followed
-- yields: slow-backend lock-contention
-- before: too-few-threads serial-phase run-queue-wait
-- says: requests are shared unevenly: {slow_busiest:%} of them are answered by thread {busiest} (baseline
--   {against_busiest:%}), as if {slow_even} threads had them all (baseline {against_even})
-- evidence: threads that answer requests: {slow_threads} (baseline {against_threads})
-- check: twinscope report: page Requests, threads; ss -tnp: connections of each process
-- try: give each request to the worker with the fewest, or have all take from one queue
-- try: SO_REUSEPORT or EPOLLEXCLUSIVE as the server has it; more connections, or a key that spreads better
-- experiment: parameter balance: hash least-connections
-- see: Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, 2001
-- when:
with thread as materialized (
    -- Threads of Go have no work of their own: processes, then.
    select side, run, iif(exists (select 1 from goroutine_use), pid, tid) as tid, thread, sum(weight) as done
    from w_turn_followed group by 1, 2, 3
),
-- How many threads it would be if all had the same (Herfindahl, Hirschman).
run as materialized (
    select side, run, sum(done) * sum(done) / sum(done * done) as even, 100.0 * max(done) / sum(done) as busiest,
           count(*) as threads from thread group by 1, 2
),
both as materialized (
    select avg(iif(side = 'slow', even, null)) as slow_even, avg(iif(side = 'against', even, null)) as against_even,
           avg(iif(side = 'slow', busiest, null)) as slow_busiest,
           avg(iif(side = 'against', busiest, null)) as against_busiest,
           avg(iif(side = 'slow', threads, null)) as slow_threads,
           avg(iif(side = 'against', threads, null)) as against_threads from run
)
select ramp(-slow_even / against_even, -0.85, -0.6) as score, *,
       (select thread from thread where side = 'slow' order by done desc limit 1) as busiest
from both where against_even > 1.5 and slow_even > 0
-- claims:
select 'requests of workers' as subject, cell, 1.0 as part from budget
where state in ('idle', 'fewer_threads', 'other') and share > 0
-- test claims: one worker has most
-- w_turn_followed side=slow run=a tid=1 thread=w0 weight=90
-- w_turn_followed side=slow run=a tid=2 thread=w1 weight=10
-- w_turn_followed side=against run=b tid=1 thread=w0 weight=50
-- w_turn_followed side=against run=b tid=2 thread=w1 weight=50
-- budget* state=idle slow=4 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- test refuses: all have the same
-- w_turn_followed side=slow run=a tid=1 thread=w0 weight=50
-- w_turn_followed side=slow run=a tid=2 thread=w1 weight=50
-- w_turn_followed side=against run=b tid=1 thread=w0 weight=50
-- w_turn_followed side=against run=b tid=2 thread=w1 weight=50
-- budget state=idle slow=4 against=1
