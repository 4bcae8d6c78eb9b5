-- cause retransmits: packets are lost and retransmitted
-- layer: io
-- page: network
-- needs: thread_time
-- yields: goroutine-lock heap-size nagle thundering-herd
-- says: {slow_retransmits:1/s} segments retransmitted (baseline {against_retransmits:1/s}): connections stall
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: share of sent segments that were retransmissions: {rate:ratio}
-- evidence: retransmission timeouts: {timeouts:1/s}
-- check: nstat TcpRetransSegs TcpExtTCPTimeouts; ss -tni
-- try: find where packets are dropped: counters of NIC and switch (ethtool -S), a cloud allowance, a full queue (tc -s
--   qdisc), policers
-- see: RFC 6298, tcp(7)
-- when:
select ramp(t.slow_rate, 0.3, 0.7) * grown(t.slow, t.against, 1.3, 1.7) as score, t.slow_rate as slow_retransmits,
       coalesce(t.against_rate, 0) as against_retransmits, t.slow_rate / nullif(o.slow_rate, 0) as rate,
       (select slow_rate from total where metric = 'protocols.TCPTimeouts') as timeouts
from total t left join total o on o.metric = 'protocols.OutSegs'
where t.metric in ('protocols.RetransSegs', 'tcp.retransmits')
order by grown(t.slow, t.against, 1.3, 1.7) > 0 desc, t.slow_rate desc limit 1
-- claims:
select 'TCP' as subject, cell, 1.0 as part from budget
where state = 'network' or state in ('idle', 'fewer_threads', 'sleep') and share > 0
-- test claims: packets are lost
-- total metric=protocols.RetransSegs slow=5 against=0 slow_rate=10
-- total metric=protocols.OutSegs slow_rate=1000
-- total metric=protocols.TCPTimeouts slow_rate=1
-- budget* state=network slow=5
-- budget state=user slow=1 against=1
-- test refuses: hardly any
-- total metric=protocols.RetransSegs slow=5 against=0 slow_rate=0.2
-- budget state=network slow=5
