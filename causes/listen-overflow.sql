-- cause listen-overflow: the queue of a listening socket overflows, and connections are dropped
-- layer: io
-- page: network
-- needs: thread_time protocols
-- says: {slow_overflows:1/s} connections dropped by a full listen queue (baseline {against_overflows:1/s}): clients
--   retry after a second
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: connection time: {connect:s}
-- check: nstat -az TcpExtListenOverflows TcpExtListenDrops; ss -ltn: Recv-Q near Send-Q
-- try: a longer queue: the backlog of listen(2) and net.core.somaxconn; more accepting threads; keep connections alive
-- experiment: parameter backlog: x1 x8
-- experiment: setting /proc/sys/net/core/somaxconn: x1 x8
-- see: listen(2), tcp(7)
-- when:
select ramp(max(slow_rate), 0.1, 0.3) * grown(max(slow), max(against), 1.3, 1.7) as score,
       max(slow_rate) as slow_overflows, max(coalesce(against_rate, 0)) as against_overflows,
       (select t.slow / nullif(c.slow, 0) from total t, total c
        where t.metric = 'tcp.connect_time' and c.metric = 'tcp.connects') as connect
from total where metric in ('protocols.ListenOverflows', 'protocols.ListenDrops', 'tcp.listen_overflows',
                            'protocols.TCPReqQFullDrop') having count(*) > 0
-- claims:
select 'listening socket' as subject, cell, 1.0 as part from budget
where state in ('network', 'other') or state in ('idle', 'fewer_threads', 'sleep') and share > 0
-- test claims: the queue is full
-- total metric=protocols.ListenOverflows slow=5 against=0 slow_rate=3 against_rate=0
-- budget* state=network slow=5
-- budget* state=idle slow=1
-- budget state=user slow=1 against=1
-- test refuses: as often as before
-- total metric=protocols.ListenOverflows slow=5 against=4 slow_rate=3 against_rate=3
-- budget state=network slow=5
