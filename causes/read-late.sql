-- cause read-late: requests wait in the socket until a busy thread reads them
-- layer: scheduling
-- page: requests time-budget
-- needs: thread_time turn
-- yields: accept-queue lock-contention
-- before: too-few-threads run-queue-wait serial-phase
-- says: a request waits for {slow_queue:s} in its socket before it is read (baseline {against_queue:s}), on {place}
-- evidence: it is answered {slow_each:s} after it was read (baseline {against_each:s})
-- check: ss -tn: Recv-Q above 0 on established connections; twinscope report: page Requests, and the profile of the
--   thread that reads
-- try: nothing that blocks in the event loop: files, name look-ups, compression and long computations go to other
--   threads
-- try: more threads or processes that read, if the one that does is always busy
-- experiment: parameter workers: x1 x2
-- see: libuv design overview, The I/O loop
-- tail: queued
-- tail: queued_running
-- tail: queued_blocked
-- tail: others
-- tail-says: slow requests wait {more:s} longer until thread {thread}[[, {meanwhile},]] gets to them
-- when:
select grown(slow_queue, against_queue, 1.5, 3) * ramp(slow_queue / nullif(slow_turns, 0), 1e-4, 5e-4)
       * ramp(slow_queue / nullif(slow_time + slow_queue, 0), 0.15, 0.4) as score,
       slow_queue, against_queue, slow_time / nullif(slow_turns, 0) as slow_each,
       against_time / nullif(against_turns, 0) as against_each, place
from turn_use where role = 'server' order by slow_queue desc limit 1
-- claims:
-- What threads wait longer for meanwhile; what keeps the one busy that should read is for others to explain.
select 'requests to be read' as subject, cell, 1.0 as part from budget
where state in ('idle', 'fewer_threads') and share > 0
-- test claims: an event loop that is blocked
-- turn_use role=server place='port 80' slow_queue=0.02 against_queue=0.0001 slow_time=0.001 slow_turns=1
-- budget* state=idle slow=4 against=1
-- budget state=kernel path=';main;read;' slow=1 against=1
-- says 'a request waits for 20 ms in its socket before it is read (baseline 100 µs), on port 80'
-- test refuses: it is read at once
-- turn_use role=server place='port 80' slow_queue=0.0001 against_queue=0.0001 slow_time=0.02 slow_turns=1
-- budget state=idle slow=4 against=1
