-- cause new-connections: a TCP connection is made for each small piece of work
-- layer: io
-- page: network calls
-- needs: thread_time tcp
-- yields: process-creation listen-overflow
-- before: syscalls context-switches too-few-threads timers kernel-lock serial-phase
-- says: {slow_connects} TCP connections are made per unit of work (baseline {against_connects})
-- evidence: connecting, accepting and closing per unit of work: {slow:s} (baseline {against:s})
-- evidence: time until a connection is established: {each:s}
-- check: ss -tan state time-wait | wc -l; nstat TcpActiveOpens TcpPassiveOpens
-- try: keep connections alive and use them again: a pool, HTTP keep-alive (nginx: keepalive of the upstream), persistent
--   connections to databases (PgBouncer)
-- experiment: parameter keep-alive: off on
-- see: tcp(7), RFC 9112, section 9.3
-- when:
select grown(t.slow, t.against, 1.5, 2.5) * ramp(t.slow_rate, 50, 150) as score, t.slow as slow_connects,
       coalesce(t.against, 0) as against_connects,
       (select e.slow / nullif(t.slow, 0) from total e where e.metric = 'tcp.connect_time') as each
from total t where t.metric = 'tcp.connects'
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
select 'connections' as subject, cell,
       iif(b.request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown', 'setsockopt', 'getsockopt',
                         'getsockname', 'getpeername', 'bind', 'listen'), 1.0,
           iif(b.state in ('idle', 'network', 'fewer_threads'), calls.much, p.score)) as part
from budget b left join places p on p.focus = b.focus, calls
where b.state in ('user', 'kernel', 'network', 'other')
      and b.request in ('connect', 'accept', 'accept4', 'socket', 'close', 'shutdown', 'setsockopt', 'getsockopt',
                        'getsockname', 'getpeername', 'bind', 'listen')
   or b.state in ('user', 'kernel') and p.score > 0
   or b.state in ('idle', 'network', 'fewer_threads') and b.share > 0
-- test claims: a proxy that keeps no connection
-- total metric=tcp.connects slow=1 against=0.001 slow_rate=3000 against_rate=3
-- budget* state=kernel request=connect path=';main;ask;connect;__x64_sys_connect;tcp_v4_connect;' slow=2
-- budget* state=kernel request=close path=';main;ask;close;__x64_sys_close;tcp_close;' slow=1
-- budget state=user path=';main;parse;' slow=1 against=1
-- says '1 TCP connections are made per operation (baseline 0.0010)'
-- test refuses: as many connections as before
-- total metric=tcp.connects slow=1 against=1 slow_rate=3000 against_rate=3000
-- budget state=kernel request=connect path=';main;ask;connect;__x64_sys_connect;tcp_v4_connect;' slow=2
