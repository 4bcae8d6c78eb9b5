-- cause nagle: small writes wait for a delayed ACK (Nagle)
-- layer: io
-- page: network
-- needs: thread_time tcp
-- yields: explicit-gc listen-overflow process-creation
-- says: {slow_stalls} small writes per unit of work waited for the ACK of the previous one, usually for 40 ms (baseline
--   {against_stalls})
-- evidence: held back for {stall:s} per unit of work
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- check: tcpdump shows a second small segment 40 ms after the first, right after its ACK
-- try: TCP_NODELAY on the sender; one write or writev for header and body; TCP_CORK or MSG_MORE around several writes
-- experiment: parameter TCP_NODELAY: off on
-- see: RFC 896, RFC 1122 4.2.3.2, tcp(7)
-- when:
-- Not those that there always are, which are more per unit of work where a unit takes longer.
select ramp(t.slow_rate, 0.3, 0.7) * grown(t.slow, t.against, 1.3, 1.7)
       * max(grown(t.slow_rate, t.against_rate, 1.2, 1.8), coalesce(ramp(s.slow / e.slow, 0.3, 0.6), 0)) as score,
       t.slow as slow_stalls, coalesce(t.against, 0) as against_stalls, s.slow as stall
from total t left join total s on s.metric = 'tcp.stall_time'
     left join measure e on e.name = 'elapsed' where t.metric = 'tcp.delayed_ack_stalls'
-- claims:
select 'small writes' as subject, cell, 1.0 as part from budget
where state = 'network' or state in ('idle', 'fewer_threads', 'sleep') and share > 0
-- test claims: small writes wait for an acknowledgement
-- total metric=tcp.delayed_ack_stalls slow=1 against=0 slow_rate=20
-- total metric=tcp.stall_time slow=0.04
-- budget* state=network slow=5
-- budget* state=idle slow=2
-- budget state=user slow=1 against=1
-- test refuses: as many per second as before, while units take longer for another reason
-- total metric=tcp.delayed_ack_stalls slow=1 against=0.1 slow_rate=5 against_rate=5
-- total metric=tcp.stall_time slow=0.04
-- measure name=elapsed slow=0.2 against=0.02
-- budget state=network slow=5
-- test refuses: as often as before
-- total metric=tcp.delayed_ack_stalls slow=1 against=0.9 slow_rate=20
-- total metric=tcp.stall_time slow=0.04
-- budget state=network slow=5
