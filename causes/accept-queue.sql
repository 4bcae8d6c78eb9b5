-- cause accept-queue: connections wait to be accepted
-- layer: io
-- page: requests network
-- needs: thread_time turn
-- yields: listen-overflow
-- before: too-few-threads serial-phase timed-polling run-queue-wait connection-churn
-- says: a request waits for {slow_accept:s} until its connection is accepted (baseline {against_accept:s}), on {place}
-- evidence: connections per unit of work: {slow_opened} (baseline {against_opened})
-- check: ss -ltn: Recv-Q is the number of connections that wait; twinscope report: page Requests
-- try: accept in a thread of its own, all that wait at once (accept4 until EAGAIN), or in each worker (SO_REUSEPORT)
-- try: keep connections alive, so that fewer must be accepted
-- experiment: parameter acceptors: x1 x4
-- see: listen(2), accept(2), tcp(7)
-- when:
select grown(slow_accept, against_accept, 1.5, 2.5) * ramp(slow_accept, 2e-4, 1e-3)
       * ramp(slow_accept / nullif(slow_time + slow_queue, 0), 0.1, 0.4) as score,
       slow_accept, against_accept, slow_opened, against_opened, place
from turn_use where role = 'server' order by slow_accept desc limit 1
-- claims:
select 'connections to be accepted' as subject, cell, 1.0 as part from budget
where state in ('idle', 'network', 'fewer_threads', 'sleep', 'other') and share > 0
-- test claims: a server that accepts late
-- turn_use role=server place='port 80' slow_accept=0.02 against_accept=0.0001 slow_time=0.001 slow_queue=0.021 slow_opened=1
-- budget* state=idle slow=4 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says 'a request waits for 20 ms until its connection is accepted (baseline 100 µs), on port 80'
-- test refuses: it accepts at once
-- turn_use role=server place='port 80' slow_accept=0.0001 against_accept=0.0001 slow_time=0.001 slow_queue=0.0001 slow_opened=1
-- budget state=idle slow=4 against=1
