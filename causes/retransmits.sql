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
-- A machine loses a few packets at all times, whoever they are for: per unit of work these are more where a unit takes
-- longer. So they come more often per second, too, or what they hold up (200 ms each, the least timeout) is much of what
-- is waited for.
with waited as materialized (
    select sum(b.more) as more
    from (select sum(slow - coalesce(against, 0)) as more from budget
          where state in ('network', 'idle', 'sleep', 'fewer_threads') and aside = 0 group by state) b where b.more > 0
)
select ramp(t.slow_rate, 0.3, 0.7) * grown(t.slow, t.against, 1.3, 1.7)
       * max(grown(t.slow_rate, t.against_rate, 1.2, 1.8),
             coalesce(ramp(0.2 * (t.slow - coalesce(t.against, 0)) / nullif(w.more, 0), 0.2, 0.5), 0)) as score, t.slow_rate as slow_retransmits,
       coalesce(t.against_rate, 0) as against_retransmits, t.slow_rate / nullif(o.slow_rate, 0) as rate,
       (select slow_rate from total where metric = 'protocols.TCPTimeouts') as timeouts
from total t left join total o on o.metric = 'protocols.OutSegs', waited w
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
-- test claims: no more of them per second, but all that is waited for
-- total metric=protocols.RetransSegs slow=20 against=2 slow_rate=10 against_rate=10
-- total metric=protocols.OutSegs slow_rate=1000
-- budget* state=network slow=5 against=1
-- test refuses: as many per second as before, while units take longer for another reason
-- total metric=protocols.RetransSegs slow=0.5 against=0.05 slow_rate=5 against_rate=6
-- budget state=network slow=5 against=1
-- test refuses: hardly any
-- total metric=protocols.RetransSegs slow=5 against=0 slow_rate=0.2
-- budget state=network slow=5
