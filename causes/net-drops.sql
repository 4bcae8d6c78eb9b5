-- cause net-drops: packets are dropped on this host or by its cloud
-- layer: io
-- page: network
-- needs: thread_time network
-- yields: goroutine-sleep
-- says: {slow_drops:1/s} packets dropped ({subject}) (baseline {against_drops:1/s})
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- check: ip -s link; nstat; ethtool -S IFACE | grep -E 'drop|exceeded|miss'; conntrack -S
-- try: larger rings (ethtool -G), net.core.netdev_max_backlog, socket buffers (net.core.rmem_max),
--   net.netfilter.nf_conntrack_max; a larger instance if an allowance is exceeded
-- experiment: setting /proc/sys/net/core/netdev_max_backlog: x1 x8
-- experiment: setting /proc/sys/net/core/rmem_max: x1 x8
-- see: Documentation/networking/statistics.rst
-- when:
select ramp(slow_rate, 0.5, 1.5) * grown(slow, against, 1.3, 1.7) as score, metric, slow_rate as slow_drops,
       coalesce(against_rate, 0) as against_drops
from total
where metric in ('network.rx_dropped', 'network.tx_dropped', 'network.rx_errors', 'network.tx_errors',
                 'softnet.dropped', 'protocols.RcvbufErrors', 'protocols.SndbufErrors', 'protocols.TCPBacklogDrop',
                 'protocols.TCPRcvQDrop', 'ethtool.bw_in_allowance_exceeded', 'ethtool.bw_out_allowance_exceeded',
                 'ethtool.pps_allowance_exceeded', 'ethtool.conntrack_allowance_exceeded',
                 'ethtool.linklocal_allowance_exceeded')
order by grown(slow, against, 1.3, 1.7) > 0 desc, slow_rate - coalesce(against_rate, 0) desc limit 1
-- claims:
select metric as subject, cell, 1.0 as part from budget, given
where state = 'network' or state in ('idle', 'sleep') and share > 0
-- test claims: a full backlog
-- total metric=softnet.dropped slow=5 against=0 slow_rate=50
-- budget* state=network slow=5
-- budget state=user slow=1 against=1
-- says 'packets dropped (softnet.dropped)'
-- test refuses: one now and then
-- total metric=softnet.dropped slow=5 against=0 slow_rate=0.5
-- budget state=network slow=5
