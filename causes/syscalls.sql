-- cause syscalls: many small system calls
-- layer: kernel
-- page: calls
-- needs: thread_time syscall
-- yields: cold-cache kernel-lock log-volume migrations run-queue-wait
-- says: {slow_count} calls of {subject:fn} per unit of work (baseline {against_count})[[, of {slow_size:B} each]]
-- evidence: time in the call, entry and exit included, per unit of work: {slow:s} (baseline {against:s})
-- evidence: made more often besides: {besides}
-- evidence: bytes per call: {slow_size:B} (baseline {against_size:B})
-- evidence: most calls from {top:fn}
-- check: strace -c -f -p PID; twinscope sql SLOW.twin "select comm, call, sum(count) from syscall_rate group by comm,
--   call order by 3 desc"
-- try: fewer and larger calls: buffer reads and writes, readv/writev, sendmmsg, io_uring, or cache the result
-- experiment: parameter buffer: x1 x16
-- see: syscalls(2)
-- claims:
with
-- Of a server recorded alone: a call for each of its answers is as few as there can be.
answers as materialized (
    select coalesce(sum(slow_turns), 0) as turns from turn_use, pair where role = 'server' and not is_pair
),
grew as materialized (
    select call, grown(slow_count, against_count, 1.2, 1.4)
           * iif(turns > 0, ramp(slow_count / turns, 1.3, 2), 1) as score
    from syscall_use, answers where coalesce(call_group(call), '') <> 'process' and call <> 'futex'
),
-- All that are made more often are one finding, called after the one that costs most: what opens a file closes it too.
most as materialized (
    select g.call from budget b join grew g on g.call = b.request and g.score > 0 where b.state in ('user', 'kernel')
    group by g.call order by sum(b.slow - b.against) desc limit 1
)
select most.call as subject, b.cell, g.score as part
from budget b join grew g on g.call = b.request and g.score > 0, most
where b.state in ('user', 'kernel') and not has_role(b.roles, 'kernel.switch')
-- tells:
select u.call as subject, u.slow_count, u.against_count, nullif(u.slow_bytes, 0) / u.slow_count as slow_size,
       nullif(u.against_bytes, 0) / u.against_count as against_size,
       (select b.caller from claimed c join budget b on b.cell = c.cell where b.caller is not null
        group by b.caller order by sum(b.slow - b.against) desc limit 1) as top,
       (select group_concat(request, ', ')
        from (select b.request from claimed c join budget b on b.cell = c.cell where b.request <> c.subject
              group by b.request having sum(b.slow - b.against) > 0.1 * (select sum(b.slow - b.against)
                  from claimed c join budget b on b.cell = c.cell)
              order by sum(b.slow - b.against) desc limit 4)) as besides
from syscall_use u where u.call in (select subject from claimed)
-- test claims: byte by byte
-- syscall_use call=read slow_count=1000 against_count=10 slow_bytes=1000 against_bytes=1000
-- budget* state=kernel request=read caller=get slow=3
-- budget state=kernel request=write slow=1
-- says '1 k calls of `read()` per operation (baseline 10), of 1 B each'
-- test claims: a server alone with several calls an answer
-- pair is_pair=0
-- turn_use role=server place='port 80' slow_turns=1
-- syscall_use call=write slow_count=6 against_count=0 slow_bytes=600 against_bytes=0
-- budget* state=kernel request=write slow=3
-- test refuses: a server alone that sends an answer by one call
-- pair is_pair=0
-- turn_use role=server place='port 80' slow_turns=1
-- syscall_use call=writev slow_count=1.03 against_count=0 slow_bytes=2900 against_bytes=0
-- budget state=kernel request=writev slow=3
-- test refuses: as many calls, which do more
-- syscall_use call=read slow_count=10 against_count=10 slow_bytes=100000 against_bytes=1000
-- budget state=kernel request=read caller=get slow=3
