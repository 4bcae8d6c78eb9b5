-- cause log-volume: more is written to files or logs
-- layer: io
-- page: calls disks
-- needs: thread_time syscall
-- yields: busy-wait gc lock-contention memory-reclaim safepoints sync-writes timers
-- says: {slow_bytes:B} written per unit of work (baseline {against_bytes:B}), in {slow_count} calls of {subject:fn}
-- evidence: writing and formatting per unit of work: {slow:s} (baseline {against:s})
-- evidence: most calls from {top:fn}
-- check: strace -f -e trace=write -p PID; the configured log level
-- try: if it is a log: a higher level, sampling, or a buffered, asynchronous one
-- experiment: parameter log-level: x1 warn
-- see: write(2)
-- when:
with
-- Where small syncs became more often and write as much each as before, they are the cause of what is written.
syncs as materialized (
    select sum(slow_count) as slow, nullif(sum(against_count), 0) as against from syscall_use
    where call_group(call) = 'sync' and slow_count > 1.3 * against_count
),
writes as materialized (
    select call, slow_count, against_count, slow_bytes, against_bytes,
           grown(slow_bytes, against_bytes, 1.3, 1.7) * ramp(slow_bytes, 8, 24)
           -- The same in smaller pieces is no more to write; ten times as much is, whatever the pieces.
           * max(ramp(coalesce((slow_bytes / against_bytes) / (slow_count / against_count), 1e9), 0.2, 0.4),
                 grown(slow_bytes, against_bytes, 7, 13))
           -- Of one run alone, a few bytes at a time are no log.
           * iif(is_pair, 1.0, ramp(slow_bytes / slow_count, 12, 20))
           -- What goes to sockets is no log.
           * coalesce((select ramp(sum(iif(has_role(roles, 'kernel.socket'), 0, b.slow))
                                   / nullif(sum(b.slow), 0), 0.05, 0.15)
                       from budget b where b.request = call and b.state = 'kernel'), 1)
           * (coalesce(slow_bytes / syncs.slow > min(65536, 1.3 * against_bytes / syncs.against), 1)) as score
    from syscall_use, syncs, pair where call_group(call) = 'write' and slow_count > 0
)
select w.score, w.call, w.slow_bytes, w.against_bytes, w.slow_count, p.is_pair
from writes w, pair p where w.score > 0 order by w.score * (w.slow_bytes - w.against_bytes) desc limit 1
-- claims:
with
-- New code that writes is there to write, unless it hardly does.
writers as materialized (
    select focus, ramp(sum(iif(call_group(request) = 'write', slow - against, 0)) / sum(slow - against), 0.03, 0.08)
        as score
    from budget where fresh = 1 group by focus having sum(slow - against) > 0
)
select call as subject, cell,
       iif(call_group(request) = 'write' or has_role(roles, 'log', 'format', 'stdio'), 1.0, w.score) as part
from budget b left join writers w on w.focus = b.focus, given
where call_group(b.request) = 'write' and (b.state in ('user', 'kernel', 'disk', 'other') or b.state = 'lock' and is_pair)
      and not has_role(b.roles, 'kernel.socket', 'kernel.pipe')
   or b.state in ('user', 'kernel') and b.fresh = 1 and w.score > 0
   or b.state = 'user' and has_role(b.roles, 'log', 'format', 'stdio')
-- tells:
select b.caller as top from claimed c join budget b on b.cell = c.cell where b.caller is not null
group by b.caller order by sum(b.slow - b.against) desc limit 1
-- test claims: ten times as many lines
-- syscall_use call=write slow_count=100 against_count=10 slow_bytes=10000 against_bytes=1000
-- budget* state=kernel request=write slow=3 against=0.3
-- budget* state=user function=vfprintf path=;main;log;vfprintf; slow=1
-- budget state=user path=;main;work; slow=1 against=1
-- says '9.77 KiB written per operation (baseline 1000 B), in 100 calls of `write()`'
-- test claims: a log on the standard output, which somebody reads
-- syscall_use call=write slow_count=100 against_count=10 slow_bytes=10000 against_bytes=1000
-- budget state=kernel request=write path=;main;log;write;pipe_write; slow=3 against=0.3
-- budget* state=user function=vfprintf path=;main;log;vfprintf; slow=1
-- test refuses: the same in smaller pieces
-- syscall_use call=write slow_count=1000 against_count=10 slow_bytes=2000 against_bytes=1000
-- budget state=kernel request=write slow=3 against=0.3
-- test refuses: what a server formats and sends
-- pair is_pair=0
-- syscall_use call=writev slow_count=1 against_count=0 slow_bytes=2900 against_bytes=0
-- budget state=kernel request=writev path=;main;writev;sock_write_iter;tcp_sendmsg; slow=3
-- budget state=user function=vfprintf path=;main;answer;vfprintf; slow=1
-- test refuses: more is sent over a connection
-- syscall_use call=write slow_count=100 against_count=10 slow_bytes=10000 against_bytes=1000
-- budget state=kernel request=write path=;main;write;sock_write_iter;tcp_sendmsg; slow=3
