-- cause connection-pool: requests wait in the process for a free connection to another server
-- layer: io
-- page: requests time-budget
-- needs: thread_time turn
-- yields: retry-storm
-- before: goroutine-lock lock-contention uneven-load slow-backend too-few-threads run-queue-wait serial-phase read-late
--   timed-polling context-switches
-- says: {waiting} requests at once share {connections} connections to {place} (baseline {against_waiting},
--   {against_connections}), all of them in use: the others wait for a free one
-- evidence: time in this server per unit of work: {served:s} (baseline {against_served:s}), of it at {place}: {asked:s}
--   (baseline {against_asked:s})
-- evidence: questions to it at once: {at_once} (baseline {against_at_once})
-- check: twinscope report: page Requests, at once and connections of the rows with the role client; metrics of the pool
-- try: a larger pool, as far as that server bears it: requests per second times the time that one holds a connection
-- try: give connections back sooner: not held while something else is done; shorter or fewer questions
-- experiment: parameter pool: x1 x4
-- see: Little, A proof for the queuing formula L = λW, 1961
-- when:
with
ours as materialized (
    select sum(slow_at_once) as slow, sum(against_at_once) as against, sum(slow_time) as time,
           sum(against_time) as against_time
    from turn_use where role = 'server'
),
asked as materialized (
    select place, sum(slow_used) as used, sum(against_used) as against_used, sum(slow_at_once) as at_once,
           sum(against_at_once) as against_at_once, sum(slow_time) as time, sum(against_time) as against_time
    from turn_use where role = 'client' and protocol is not 'udp' and place not glob '*:53'
    group by place order by sum(slow_time) desc limit 1
)
-- All connections are in use, more requests are there than connections, more so than before, and it is not that server
-- that takes longer.
select ramp(a.at_once / a.used, 0.5, 0.75) * ramp(a.used, 1.1, 1.9) * ramp(o.slow / a.used, 1.3, 2)
       * grown(o.slow / a.used, o.against / nullif(a.against_used, 0), 1.5, 2.5)
       * ramp(1.0 - (a.time - a.against_time) / nullif(o.time - o.against_time, 0), 0.3, 0.6) as score,
       o.slow as waiting, o.against as against_waiting, a.used as connections, a.against_used as against_connections,
       a.place as place, o.time as served, o.against_time as against_served, a.time as asked,
       a.against_time as against_asked, a.at_once as at_once, a.against_at_once as against_at_once
from ours o, asked a where a.used > 0 and o.time > o.against_time
-- claims:
select 'a free connection' as subject, cell, 1.0 as part from budget
where state in ('idle', 'lock', 'other', 'sleep', 'fewer_threads') and share > 0
-- test claims: thirty requests share two connections
-- turn_use role=server place='port 80' slow_at_once=30 against_at_once=28 slow_time=0.07 against_time=0.009
-- turn_use role=client place=10.0.0.2:80 slow_used=2 against_used=16 slow_at_once=1.8 against_at_once=14 slow_time=0.004 against_time=0.0045
-- budget* state=idle slow=4 against=1
-- budget* state=lock slow=2 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '30 requests at once share 2 connections to 10.0.0.2:80 (baseline 28, 16), all of them in use: the others wait for a free one'
-- test refuses: that server takes longer
-- turn_use role=server place='port 80' slow_at_once=30 against_at_once=28 slow_time=0.07 against_time=0.009
-- turn_use role=client place=10.0.0.2:80 slow_used=16 against_used=16 slow_at_once=15 against_at_once=14 slow_time=0.04 against_time=0.0045
-- budget state=idle slow=4 against=1
-- test refuses: connections are free
-- turn_use role=server place='port 80' slow_at_once=30 against_at_once=28 slow_time=0.07 against_time=0.009
-- turn_use role=client place=10.0.0.2:80 slow_used=4 against_used=16 slow_at_once=0.5 against_at_once=4 slow_time=0.004 against_time=0.0045
-- budget state=idle slow=4 against=1
