-- cause slow-backend: another server that requests depend on takes longer to answer, or is asked more often
-- layer: io
-- page: requests network
-- needs: thread_time turn syscall
-- yields: dns nagle retransmits net-drops lock-contention
-- before: too-few-threads run-queue-wait serial-phase timed-polling context-switches syscalls
-- says: {subject} is waited for {slow_wait:s} per unit of work (baseline {against_wait:s}): {slow_asked} answers, each
--   after {slow_each:s} (baseline {against_asked}[[, {against_each:s}]])
-- evidence: asked by {asker}; {at_once} questions to it at once on average
-- check: twinscope report: page Requests, rows with the role client; the log and a recording of that server
-- try: record that server too (twinscope record --pid, or on its host), and explain it against a good run
-- try: ask less often: one query for all rows in place of one for each (N+1), a cache, answers asked for side by side
-- experiment: parameter backend: x1 mock
-- see: Gregg, Systems Performance, 2nd edition, 2.6.4 (queueing)
-- tail: network
-- tail-says: slow requests wait {more:s} longer for what another server answers[[, first of all {backend}]]
-- when:
-- As much of the longer service time as the back-end's longer time is; where nothing is served, of what threads waited.
with served as materialized (
    select max(sum(slow_time - against_time), 0) as more from turn_use where role = 'server'
),
waited as materialized (
    select max(sum(slow - against), 1e-9) as more from budget where state in ('idle', 'network', 'other', 'sleep')
)
select grown(sum(u.slow_time), sum(u.against_time), 1.2, 1.5)
       * min(max(sum(u.slow_time - u.against_time), 0) / iif(s.more > 0, s.more, w.more), 1) as score
from turn_use u, served s, waited w where u.role = 'client' and u.place not glob '*:53'
-- claims:
with grew as materialized (
    select place, sum(slow_time - against_time) as more, sum(slow_turns - against_turns) as asked,
           grown(sum(slow_turns), sum(against_turns), 1.5, 2.5) as oftener
    from turn_use where role = 'client' and place not glob '*:53' group by place having more > 0
),
-- Each question is sent and its answer read: of these calls, as many as there are more questions.
sent as materialized (
    select max(sum(slow_count - against_count), 0) as more from syscall_use
    where call_group(call) in ('write', 'send')
)
select g.place as subject, b.cell, g.more / (select sum(more) from grew) as part
from budget b, grew g
where b.state in ('idle', 'network', 'fewer_threads') and b.share > 0
union all
select g.place, b.cell, g.oftener * min(max(g.asked, 0) / nullif(s.more, 0), 1)
from budget b, grew g, sent s
where b.state in ('user', 'kernel') and g.oftener > 0 and g.asked > 0
      and call_group(b.request) in ('write', 'send', 'read', 'receive', 'poll')
-- tells:
select place as subject, sum(slow_time) as slow_wait, sum(against_time) as against_wait,
       sum(slow_turns) as slow_asked, sum(against_turns) as against_asked,
       sum(slow_time) / nullif(sum(slow_turns), 0) as slow_each,
       sum(against_time) / nullif(sum(against_turns), 0) as against_each,
       sum(slow_at_once) as at_once, max(comm) as asker
from turn_use where role = 'client' group by place
-- test claims: a proxy whose back-end takes longer
-- turn_use role=client place=10.0.0.2:80 comm=proxy slow_time=0.009 against_time=0.002 slow_turns=1 against_turns=1 slow_at_once=14
-- turn_use role=server place='port 80' slow_time=0.010 against_time=0.003 slow_turns=1 against_turns=1
-- budget* state=idle slow=4 against=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '10.0.0.2:80 is waited for 9 ms per operation (baseline 2 ms): 1 answers, each after 9 ms (baseline 1, 2 ms)'
-- test claims: a query for each row, which costs CPU time as well
-- turn_use role=client place=10.0.0.2:5432 comm=app slow_time=0.003 against_time=0.0004 slow_turns=21 against_turns=1
-- turn_use role=server place='port 80' slow_time=0.0033 against_time=0.0005 slow_turns=1 against_turns=1
-- syscall_use call=write slow_count=22 against_count=2
-- syscall_use call=read slow_count=22 against_count=2
-- budget* state=kernel request=write slow=2 against=0.1
-- budget* state=kernel request=read slow=2 against=0.1
-- budget* state=network slow=3 against=1
-- budget state=kernel request=openat slow=1 against=0.5
-- test claims: a server that the baseline does not ask at all, by datagrams
-- turn_use role=client place='a server asked by UDP' comm=app slow_time=0.003 against_time=0 slow_turns=1 against_turns=0
-- turn_use role=server place='port 80' slow_time=0.0035 against_time=0.0005 slow_turns=1 against_turns=1
-- budget* state=idle slow=4 against=1
-- says 'a server asked by UDP is waited for 3 ms per operation (baseline 0 s): 1 answers, each after 3 ms (baseline 0)'
-- test refuses: the back-end answers as fast as before
-- turn_use role=client place=10.0.0.2:80 slow_time=0.002 against_time=0.002 slow_turns=1 against_turns=1
-- turn_use role=server place='port 80' slow_time=0.010 against_time=0.003 slow_turns=1 against_turns=1
-- budget state=idle slow=4 against=1
