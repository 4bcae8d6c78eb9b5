-- cause head-of-line: one slow request holds up others on its connection
-- layer: io
-- page: requests network
-- needs: thread_time turn
-- yields: accept-queue
-- before: goroutine-lock lock-contention uneven-load slow-backend too-few-threads run-queue-wait serial-phase read-late noisy-neighbour
-- says: {waiting} requests at once share {connections} connection to {place} (baseline {against_waiting},
--   {against_connections}): each waits for those before it
-- evidence: time from question to answer on that connection, per unit of work: {slow_each:s}
-- check: ss -tn dst :PORT: one connection where there should be several; twinscope report: page Requests
-- try: several connections to that server: a pool, one to each worker
-- try: slow questions on a connection of their own; a protocol that answers out of order
-- experiment: parameter connections: x1 x4
-- see: RFC 9113, section 1; RFC 9112, section 9.3.2 (pipelining)
-- when:
with
-- Requests in this server against the connections over which it asks another one.
ours as materialized (
    select sum(slow_at_once) as slow, sum(against_at_once) as against from turn_use where role = 'server'
),
asked as materialized (
    select place, sum(slow_used) as used, sum(against_used) as against_used, sum(slow_time) as each,
           sum(slow_rate) as rate
    from turn_use where role = 'client' group by place order by sum(slow_rate) desc limit 1
),
-- Questions that clients send before the ones before them were answered.
held as materialized (
    select place, slow_held, against_held, slow_time, slow_queue from turn_use where role = 'server'
    order by slow_held desc limit 1
)
select ramp(-a.used, -1.9, -1.1) * ramp(o.slow / max(a.used, 1), 2, 4)
       * grown(o.slow / max(a.used, 1), o.against / max(a.against_used, 1), 1.5, 2.5) as score,
       o.slow as waiting, o.against as against_waiting, a.used as connections, a.against_used as against_connections,
       a.place as place, a.each as slow_each
from ours o, asked a where a.used > 0
union all
select grown(slow_held, against_held, 1.5, 3) * ramp(slow_held / nullif(slow_time + slow_queue, 0), 0.15, 0.4),
       null, null, null, null, place, null
from held where slow_held > 0
order by 1 desc limit 1
-- claims:
select 'a connection that requests share' as subject, cell, 1.0 as part from budget
where state in ('idle', 'network', 'other', 'fewer_threads') and share > 0
-- test claims: all questions go over one connection
-- turn_use role=server place='port 80' slow_at_once=10 against_at_once=10 slow_time=0.04
-- turn_use role=client place=10.0.0.2:80 slow_used=1 against_used=10 slow_time=0.003 slow_rate=100
-- budget* state=idle slow=4 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '10 requests at once share 1 connection to 10.0.0.2:80 (baseline 10, 10): each waits for those before it'
-- test refuses: as many connections as requests
-- turn_use role=server place='port 80' slow_at_once=10 against_at_once=10 slow_time=0.04
-- turn_use role=client place=10.0.0.2:80 slow_used=10 against_used=10 slow_time=0.03 slow_rate=100
-- budget state=idle slow=4 against=1
