-- cause listen-overflow: the queue of a listening socket overflows, and connections are dropped
-- layer: io
-- page: network
-- needs: thread_time protocols
-- specific: 8
-- says: {slow_overflows:1/s} connections dropped by a full listen queue (baseline {against_overflows:1/s}): clients
--   retry after a second
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: connection time: {connect:s}
-- check: nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -ltn: Recv-Q near Send-Q
-- try: a longer queue: the backlog of listen(2) and net.core.somaxconn; more accepting threads; keep connections alive
-- experiment: backlog; net.core.somaxconn
-- see: listen(2), tcp(7)
with overflows as materialized (
    select max(slow_rate) as slow_overflows, max(coalesce(against_rate, 0)) as against_overflows, max(slow) as slow,
        max(coalesce(against, 0)) as against
    from total where metric in ('protocols.ListenOverflows', 'protocols.ListenDrops', 'tcp.listen_overflows',
        'protocols.TCPReqQFullDrop')
),
connects as (select t.slow / nullif(c.slow, 0) as connect from total t join total c on c.metric = 'tcp.connects'
    where t.metric = 'tcp.connect_time')
select 'listening socket' as subject, b.cell, 1.0 as part, o.slow_overflows, o.against_overflows,
    (select connect from connects) as connect, sum(b.slow) over () as slow, sum(b.against) over () as against
from budget b, overflows o
where o.slow_overflows > 0.2 and o.slow > 1.5 * o.against
    and (b.state in ('network', 'other') or (b.state in ('idle', 'fewer_threads', 'sleep') and b.share > 0))
-- test claims: the queue is full
-- total metric=protocols.ListenOverflows slow=5 against=0 slow_rate=3 against_rate=0
-- budget* state=network slow=5
-- budget* state=idle slow=1
-- budget state=user slow=1 against=1
-- test refuses: as often as before
-- total metric=protocols.ListenOverflows slow=5 against=4 slow_rate=3 against_rate=3
-- budget state=network slow=5
