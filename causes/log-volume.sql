-- cause log-volume: more is written to files or logs
-- layer: io
-- page: calls disks
-- needs: thread_time syscall
-- specific: 5
-- says: {slow_bytes:B} written per unit of work (baseline {against_bytes:B}), in {slow_count} calls of {subject:fn}
-- evidence: writing and formatting per unit of work: {slow:s} (baseline {against:s})
-- evidence: most calls from {top:fn}
-- check: strace -f -e trace=write -p PID; the configured log level
-- try: if it is a log: a higher level, sampling, or a buffered, asynchronous one
-- experiment: log level
-- see: write(2)
with
-- Where small syncs became more often and write as much each as before, they are the cause of what is written.
syncs as materialized (
    select sum(slow_count) as slow, nullif(sum(against_count), 0) as against from syscall_use
    where call in ('fsync', 'fdatasync', 'msync', 'sync_file_range', 'syncfs', 'sync')
        and slow_count > 1.3 * against_count
),
grown as materialized (
    select call, iif(call glob '*64', substr(call, 1, length(call) - 2), call) as name, slow_count, against_count,
        slow_bytes, against_bytes from syscall_use, syncs, pair
    -- Of one run alone, a few bytes at a time are no log.
    where (is_pair or slow_bytes > 16 * slow_count)
        and (call in ('write', 'writev', 'pwrite64', 'pwritev', 'pwritev2') and slow_bytes > 1.5 * against_bytes
        and slow_bytes > 16
           -- The same in smaller pieces is no more to write; ten times as much is, whatever the pieces.
           and (slow_bytes / nullif(against_bytes, 0) > 0.3 * slow_count / nullif(against_count, 0)
               or slow_bytes > 10 * against_bytes)
               or (call in ('write', 'writev', 'pwrite64') and against_bytes < 1 and slow_bytes > 16))
      and coalesce(slow_bytes / syncs.slow > min(65536, 1.3 * against_bytes / syncs.against), 1)
),
-- New code that writes is there to write, unless it hardly does.
writers as materialized (
    select focus from budget where fresh = 1 group by focus
        having sum(iif(request in (select name from grown), slow - against, 0)) > 0.05 * sum(slow - against)
),
most as materialized (select * from grown order by slow_bytes - against_bytes desc limit 1),
cells as materialized (
    select b.cell, b.slow, b.against, b.caller from budget b, most, pair
    where (b.request in (select name from grown) and (b.state in ('user', 'kernel', 'disk', 'other')
        or b.state = 'lock' and is_pair) and b.path not glob '*tcp*' and b.path not glob '*;sock_*'
        and b.path not glob '*pipe_write*')
       or (b.state in ('user', 'kernel') and b.fresh = 1 and b.focus in (select focus from writers))
       or (b.state = 'user' and (b.function glob '*printf*' or b.function glob '*_IO_*' or b.function glob '*fputs*'
           or b.function glob '*strftime*' or b.function glob '*localtime*'
           or b.function glob '*itoa*' or b.path glob '*;*log_error_core;*' or b.path glob '*printf;*'
               or b.path glob '*ostream*' or b.path glob '*num_put*' or b.path glob '*basic_filebuf*'
               or b.path glob '*spdlog*' or b.path glob '*logger*' or b.path glob '*fmt::*' or b.path glob '*;logging*'
               or b.path glob '*java.util.Formatter*' or b.path glob '*java.text.*Format*'
               or b.path glob '*java.util.logging.*' or b.path glob '*log4j*' or b.path glob '*logback*'
               or b.path glob '*;_IO_*'))
),
top as (select caller from cells where caller is not null group by caller order by sum(slow - against) desc limit 1)
select m.name as subject, c.cell, 1.0 as part, m.slow_bytes, m.against_bytes, m.slow_count,
    sum(c.slow) over () as slow, sum(c.against) over () as against, (select caller from top) as top
from cells c, most m
-- test claims: ten times as many lines
-- syscall_use call=write slow_count=100 against_count=10 slow_bytes=10000 against_bytes=1000
-- budget* state=kernel request=write slow=3 against=0.3
-- budget* state=user function=vfprintf path=;main;log;vfprintf; slow=1
-- budget state=user path=;main;work; slow=1 against=1
-- says '9.77 KiB written per operation (baseline 1000 B), in 100 calls of `write()`'
-- test refuses: the same in smaller pieces
-- syscall_use call=write slow_count=1000 against_count=10 slow_bytes=2000 against_bytes=1000
-- budget state=kernel request=write slow=3 against=0.3
-- test refuses: more is sent over a connection
-- syscall_use call=write slow_count=100 against_count=10 slow_bytes=10000 against_bytes=1000
-- budget state=kernel request=write path=;main;write;sock_write_iter;tcp_sendmsg; slow=3
