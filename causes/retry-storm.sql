-- cause retry-storm: requests to another server are given up and made again
-- layer: io
-- page: requests network
-- needs: thread_time turn
-- yields: dns
-- before: slow-backend too-few-threads connection-churn syscalls serial-phase head-of-line
-- says: {place} is asked {slow_asked} times per unit of work (baseline {against_asked}), on {slow_opened} new
--   connections (baseline {against_opened}): requests are given up and made again
-- evidence: questions without an answer per unit of work: {slow_given_up} (baseline {against_given_up})
-- check: the log of the client: timeouts and retries; ss -tn dst :PORT; twinscope report: page Requests
-- try: a longer timeout than that server needs at its slowest; retries with back-off and jitter, and a budget for them
-- try: a circuit breaker: while that server is slow, fail at once
-- experiment: parameter timeout: x1 x4
-- see: Brooker, Timeouts, retries and backoff with jitter, Amazon Builders' Library
-- when:
with asked as materialized (
    select place, sum(slow_sends) as slow_asked, sum(against_sends) as against_asked,
           sum(slow_opened) as slow_opened, sum(against_opened) as against_opened,
           sum(slow_sends - slow_turns) as slow_given_up, sum(against_sends - against_turns) as against_given_up
    from turn_use where role = 'client' group by place
)
-- A connection is closed with its question, for the answer may still come.
select ramp(slow_given_up, 0.1, 0.4) * grown(slow_given_up, max(against_given_up, 0), 2, 4)
       * ramp(slow_opened, 0.1, 0.4) * grown(slow_opened, against_opened, 1.5, 3) as score, *
from asked order by 1 desc limit 1
-- claims:
select 'requests made again' as subject, cell, 1.0 as part from budget
where state in ('user', 'kernel', 'idle', 'network', 'sleep', 'fewer_threads') and share > 0
-- test claims: a client that gives up
-- turn_use role=client place=10.0.0.2:80 slow_sends=3 against_sends=1 slow_turns=1 against_turns=1 slow_opened=2 against_opened=0
-- budget* state=idle slow=4 against=1
-- budget state=disk slow=1 against=1
-- says '10.0.0.2:80 is asked 3 times per operation (baseline 1), on 2 new connections (baseline 0): requests are given up and made again'
-- test refuses: more questions, all of which are answered
-- turn_use role=client place=10.0.0.2:80 slow_sends=3 against_sends=1 slow_turns=3 against_turns=1 slow_opened=0 against_opened=0
-- budget state=idle slow=4 against=1
