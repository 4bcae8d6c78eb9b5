-- cause syscalls: many small system calls
-- layer: kernel
-- page: calls
-- needs: thread_time syscall
-- specific: 4
-- says: {slow_count} calls of {subject:fn} per unit of work (baseline {against_count}){each}
-- evidence: time in the call, entry and exit included, per unit of work: {slow:s} (baseline {against:s})
-- evidence: bytes per call: {slow_size:B} (baseline {against_size:B})
-- evidence: most calls from {top:fn}
-- check: strace -c -f -p PID; twinscope sql SLOW.twin "select comm, call, sum(count) from syscall_rate group by comm,
--   call order by 3 desc"
-- try: fewer and larger calls: buffer reads and writes, readv/writev, sendmmsg, io_uring, or cache the result
-- experiment: buffer size
-- see: syscalls(2)
with grown as materialized (
    select call, iif(call glob '*64', substr(call, 1, length(call) - 2), call) as name, slow_count, against_count,
        slow_bytes, against_bytes from syscall_use
    where slow_count > 1.3 * against_count and call not in ('futex', 'exit', 'exit_group', 'execve', 'clone', 'clone3',
        'fork', 'vfork', 'wait4', 'waitid')
),
cells as materialized (
    select b.cell, b.slow, b.against, b.caller, g.name, g.slow_count, g.against_count, g.slow_bytes, g.against_bytes
    from budget b join grown g on b.request = g.name where b.state in ('user', 'kernel')
        and b.path not glob '*;schedule;*'
),
top as materialized (
    select name, caller, row_number() over (partition by name order by sum(slow - against) desc) as place from cells
        where caller is not null group by name, caller
)
select c.name as subject, c.cell, 1.0 as part, c.slow_count, c.against_count,
    sum(c.slow) over (partition by c.name) as slow, sum(c.against) over (partition by c.name) as against,
       iif(c.slow_bytes > 0, c.slow_bytes / c.slow_count, null) as slow_size,
           iif(c.against_bytes > 0, c.against_bytes / c.against_count, null) as against_size,
       iif(c.slow_bytes > 0, ', of ' || human(c.slow_bytes / c.slow_count, 'B') || ' each', '') as each, t.caller as top
from cells c left join top t on t.name = c.name and t.place = 1
-- test claims: byte by byte
-- syscall_use call=read slow_count=1000 against_count=10 slow_bytes=1000 against_bytes=1000
-- budget* state=kernel request=read caller=get slow=3
-- budget state=kernel request=write slow=1
-- says '1 k calls of `read()` per operation (baseline 10), of 1 B each'
-- test refuses: as many calls, which do more
-- syscall_use call=read slow_count=10 against_count=10 slow_bytes=100000 against_bytes=1000
-- budget state=kernel request=read caller=get slow=3
