-- cause closed-window: a receiver is slow to read, and its TCP window closes
-- layer: io
-- page: network
-- needs: thread_time protocols
-- yields: nagle listen-overflow retransmits
-- before: back-pressure context-switches too-few-threads timed-polling serial-phase
-- says: {slow_closed:1/s} times a TCP window closed here (baseline {against_closed:1/s}): a program on this host reads too
--   slowly, or its receive buffer is too small
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: data pruned from full receive buffers: {pruned:1/s}
-- check: nstat -az TcpExtTCPToZeroWindowAdv TcpExtTCPWantZeroWindowAdv; ss -tm: Recv-Q near rb
-- try: read faster, or from more threads; a larger receive buffer (net.ipv4.tcp_rmem), without SO_RCVBUF, which turns
--   its growth off
-- experiment: setting /proc/sys/net/ipv4/tcp_rmem: x1 x4
-- see: tcp(7), RFC 9293, section 3.8.6
-- when:
select ramp(t.slow_rate, 0.5, 2) * grown(t.slow, t.against, 1.3, 1.7) as score, t.slow_rate as slow_closed,
       coalesce(t.against_rate, 0) as against_closed,
       (select slow_rate from total where metric = 'protocols.RcvPruned') as pruned
from total t where t.metric in ('protocols.TCPToZeroWindowAdv', 'protocols.TCPWantZeroWindowAdv')
order by t.slow_rate - coalesce(t.against_rate, 0) desc limit 1
-- claims:
select 'TCP window' as subject, cell, 1.0 as part from budget
where state = 'network' or state in ('idle', 'fewer_threads', 'sleep') and share > 0
-- test claims: a reader that is slow
-- total metric=protocols.TCPToZeroWindowAdv slow=5 against=0 slow_rate=20
-- budget* state=network what=sk_stream_wait_memory slow=3
-- budget state=user slow=1 against=1
-- says '20/s times a TCP window closed here (baseline 0/s)'
-- test refuses: windows that close as often as before
-- total metric=protocols.TCPToZeroWindowAdv slow=5 against=5 slow_rate=20
-- budget state=network what=sk_stream_wait_memory slow=3
