-- cause back-pressure: threads wait for the receiver to take their data
-- layer: io
-- page: network profiles
-- needs: thread_time wait
-- yields: net-drops nic-queue
-- says: threads wait for buffer space in {subject}: the receiver takes the data too slowly
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- check: ss -tni: Send-Q; twinscope flame SLOW.twin --state pipe, --state network
-- try: make the reader faster or give it threads; larger buffers (F_SETPIPE_SZ, SO_SNDBUF, net.ipv4.tcp_wmem) only help
--   with bursts
-- experiment: parameter buffer: x1 x4 x16
-- experiment: parameter readers: x1 x2
-- see: pipe(7), tcp(7)
-- claims:
select iif(state = 'pipe', 'a pipe', 'a socket') as subject, cell, 1.0 as part from budget
where state in ('pipe', 'network')
  and (has_role(roles, 'kernel.room') or has_role(roles(what, '', 'kernel'), 'kernel.room')
       or call_group(coalesce(request, what)) in ('write', 'send'))
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
