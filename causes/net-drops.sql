-- cause net-drops: packets are dropped on this host or by its cloud
-- layer: io
-- page: network
-- needs: thread_time network
-- specific: 5
-- says: {slow_drops:1/s} packets dropped ({subject}) (baseline {against_drops:1/s})
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- check: ip -s link; nstat; ethtool -S IFACE | grep -E 'drop|exceeded|miss'; conntrack -S
-- try: larger rings (ethtool -G), net.core.netdev_max_backlog, socket buffers (net.core.rmem_max),
--   net.netfilter.nf_conntrack_max; a larger instance if an allowance is exceeded
-- see: Documentation/networking/statistics.rst
with drops as materialized (
    select metric, slow_rate as slow_drops, coalesce(against_rate, 0) as against_drops from total
    where metric in ('network.rx_dropped', 'network.tx_dropped', 'network.rx_errors', 'network.tx_errors',
        'softnet.dropped', 'protocols.RcvbufErrors', 'protocols.SndbufErrors', 'protocols.TCPBacklogDrop',
        'protocols.TCPRcvQDrop',
                     'ethtool.bw_in_allowance_exceeded', 'ethtool.bw_out_allowance_exceeded',
                         'ethtool.pps_allowance_exceeded', 'ethtool.conntrack_allowance_exceeded',
                         'ethtool.linklocal_allowance_exceeded')
      and slow_rate > 1 and slow > 1.5 * coalesce(against, 0)
),
most as materialized (select * from drops order by slow_drops - against_drops desc limit 1)
select m.metric as subject, b.cell, 1.0 as part, m.slow_drops, m.against_drops, sum(b.slow) over () as slow,
    sum(b.against) over () as against
from budget b, most m where b.state = 'network' or (b.state in ('idle', 'sleep') and b.share > 0)
-- test claims: a full backlog
-- total metric=softnet.dropped slow=5 against=0 slow_rate=50
-- budget* state=network slow=5
-- budget state=user slow=1 against=1
-- says 'packets dropped (softnet.dropped)'
-- test refuses: one now and then
-- total metric=softnet.dropped slow=5 against=0 slow_rate=0.5
-- budget state=network slow=5
