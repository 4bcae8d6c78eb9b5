-- cause connection-churn: connections are not used again: each has few requests
-- layer: io
-- page: requests network calls
-- needs: thread_time
-- yields: process-creation listen-overflow tls-handshakes
-- before: syscalls context-switches too-few-threads timers kernel-lock serial-phase
-- says: {slow_opened} connections are made per unit of work (baseline {against_opened})[[ {how} {place}]]
-- evidence: connecting, accepting and closing per unit of work: {slow:s} (baseline {against:s})
-- evidence: time until a TCP connection is established: {each:s}
-- check: twinscope report: page Requests, connections per request; ss -tan state time-wait | wc -l;
--   nstat TcpActiveOpens TcpPassiveOpens
-- try: keep connections alive and use them again: a pool, HTTP keep-alive (nginx: keepalive of the upstream,
--   keepalive_requests), persistent connections to databases (PgBouncer)
-- experiment: parameter keep-alive: off on
-- see: RFC 9112, section 9.3; tcp(7)
-- when:
-- By whose requests went through them; or, of programs whose requests are not counted, by what the kernel's TCP connected.
with made as (
    select grown(slow_opened, against_opened, 1.5, 2.5) * ramp(slow_opened / nullif(slow_turns, 0), 0.1, 0.3)
           * ramp(slow_opened * slow_rate / nullif(slow_turns, 0), 50, 150) as score,
           slow_opened, against_opened, place, iif(role = 'server', 'by clients, to', 'to') as how
    from turn_use where protocol <> 'udp'
    union all
    select grown(slow, against, 1.5, 2.5) * ramp(slow_rate, 50, 150), slow, coalesce(against, 0), null, null
    from total where metric = 'tcp.connects'
)
select score, slow_opened, against_opened, place, how,
       (select e.slow / nullif(t.slow, 0) from total e, total t
        where e.metric = 'tcp.connect_time' and t.metric = 'tcp.connects') as each
from made where score > 0 order by score desc, place is null, slow_opened desc limit 1
-- claims:
with
-- Waits are for connections as far as these are much of what the CPUs do more.
calls as materialized (
    select ramp(sum(share), 0.05, 0.2) as much from budget
    where state in ('user', 'kernel') and request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown')
),
places as materialized (
    select focus, ramp(sum(iif(request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown'), share, 0))
                       / sum(share), 0.1, 0.3) as score
    from budget where state in ('user', 'kernel') and focus is not null and fresh = 1
    group by focus having sum(share) > 0
)
select 'connections' as subject, b.cell,
       iif(b.request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown', 'setsockopt', 'getsockopt',
                         'getsockname', 'getpeername', 'bind', 'listen', 'epoll_ctl'), 1.0,
           iif(b.state in ('idle', 'network', 'fewer_threads'), calls.much, p.score)) as part
from budget b left join places p on p.focus = b.focus, calls
where b.state in ('user', 'kernel', 'network', 'other')
      and b.request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown', 'setsockopt', 'getsockopt',
                        'getsockname', 'getpeername', 'bind', 'listen', 'epoll_ctl')
   or b.state in ('user', 'kernel') and p.score > 0
   or b.state in ('idle', 'network', 'fewer_threads') and b.share > 0
-- test claims: clients that connect for each request
-- turn_use role=server protocol=tcp place='port 80' slow_opened=1 against_opened=0.001 slow_turns=1 slow_rate=3000
-- budget* state=kernel request=accept4 path=';main;accept4;' slow=2
-- budget* state=kernel request=close path=';main;close;__x64_sys_close;tcp_close;' slow=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '1 connections are made per operation (baseline 0.0010) by clients, to port 80'
-- test claims: a proxy that keeps no connection, and whose requests were not counted
-- total metric=tcp.connects slow=1 against=0.001 slow_rate=3000 against_rate=3
-- budget* state=kernel request=connect path=';main;ask;connect;__x64_sys_connect;tcp_v4_connect;' slow=2
-- budget* state=kernel request=close path=';main;ask;close;__x64_sys_close;tcp_close;' slow=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '1 connections are made per operation (baseline 0.0010)'
-- test refuses: as many connections as before
-- turn_use role=server protocol=tcp place='port 80' slow_opened=1 against_opened=1 slow_turns=1 slow_rate=3000
-- total metric=tcp.connects slow=1 against=1 slow_rate=3000 against_rate=3000
-- budget state=kernel request=accept4 path=';main;accept4;' slow=2
