-- cause back-pressure: threads wait for the receiver to take their data
-- layer: io
-- page: network profiles
-- needs: thread_time wait
-- specific: 4
-- says: threads wait for buffer space in {subject}: the receiver takes the data too slowly
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- check: ss -tni: Send-Q; twinscope flame SLOW.twin --state pipe, --state network
-- try: make the reader faster or give it threads; larger buffers (F_SETPIPE_SZ, SO_SNDBUF, net.ipv4.tcp_wmem) only help
--   with bursts
-- experiment: size of the buffer; number of readers
-- see: pipe(7), tcp(7)
with cells as materialized (
    select cell, slow, against, iif(state = 'pipe', 'a pipe', 'a socket') as subject from budget
    where state in ('pipe', 'network') and (coalesce(what, '') glob '*write*' or coalesce(what, '') glob '*send*'
        or coalesce(what, '') in ('sk_stream_wait_memory', 'sock_wait_for_wmem', 'unix_stream_sendmsg')
          or path glob '*pipe_write*' or path glob '*sk_stream_wait_memory*' or path glob '*sock_alloc_send_pskb*'
              or request in ('write', 'writev', 'send', 'sendto', 'sendmsg', 'sendfile'))
)
select subject, cell, 1.0 as part, sum(slow) over (partition by subject) as slow,
    sum(against) over (partition by subject) as against from cells
-- test claims: a pipe is full
-- budget* state=pipe what=pipe_write request=write slow=4 against=1
-- budget state=pipe what=pipe_read request=read slow=4 against=1
-- says 'threads wait for buffer space in a pipe: the receiver takes the data too slowly'
-- test claims: the other side of a connection does not read
-- budget* state=network what=sk_stream_wait_memory request=sendto slow=4
-- says 'threads wait for buffer space in a socket: the receiver takes the data too slowly'
-- test refuses: readers wait for data
-- budget state=pipe what=pipe_read request=read slow=4
-- budget state=network request=recvfrom slow=3
