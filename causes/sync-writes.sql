-- cause sync-writes: operations wait until their data is on disk
-- layer: io
-- page: disks calls
-- needs: thread_time syscall
-- specific: 6
-- says: {slow_count} calls of {subject:fn} per unit of work (baseline {against_count}): each waits for the disk for
--   {mean:s}
-- evidence: time in syncs per unit of work: {slow:s} (baseline {against:s})
-- evidence: cache flushes of the disks per unit of work: {slow_flushes} (baseline {against_flushes})
-- check: strace -f -T -e trace=fsync,fdatasync,msync,sync_file_range -p PID; twinscope flame SLOW.twin --state disk
-- try: one sync for many operations (group commit, batches), or none where data may be lost: PostgreSQL
--   synchronous_commit=off or commit_delay, Redis appendfsync everysec, SQLite journal_mode=WAL with synchronous=NORMAL
-- try: a disk with power-loss protection
-- experiment: operations per sync
-- see: fsync(2)
with syncs as materialized (
    select call, slow_count, against_count, slow_time from syscall_use
    where call in ('fsync', 'fdatasync', 'msync', 'sync_file_range', 'syncfs', 'sync')
        and slow_count > 1.3 * against_count
),
most as materialized (select * from syncs order by slow_time desc limit 1),
-- What is written or removed for each sync as before, some pages at most, is done for it: a journal for each commit.
-- More syncs of megabytes follow from more data.
each as materialized (
    select sum(slow_count) as slow, sum(against_count) as against from syncs
),
journal as materialized (
    select iif(call glob '*64', substr(call, 1, length(call) - 2), call) as name from syscall_use, each
    where call in ('write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'unlink', 'unlinkat', 'rename', 'renameat',
        'renameat2', 'ftruncate', 'fallocate')
      and slow_count / each.slow < 1.3 * against_count / nullif(each.against, 0)
      and coalesce(slow_bytes, 0) / each.slow <= min(65536, 1.3 * coalesce(against_bytes, 0) / nullif(each.against, 0))
),
cells as materialized (
    select b.cell, b.slow, b.against from budget b, most
    where b.state in ('disk', 'kernel', 'user', 'lock', 'other', 'sleep', 'idle')
      and (b.request in ('fsync', 'fdatasync', 'msync', 'sync_file_range', 'syncfs', 'sync')
          or b.what in ('fsync', 'fdatasync', 'msync', 'sync_file_range') or b.path glob '*;*fsync;*'
           or b.path glob '*;*fdatasync;*' or b.path glob '*;jbd2_log_wait_commit;*' or b.path glob '*;XLogFlush;*'
               or (b.state = 'idle' and b.share > 0) or b.path glob '*sync_file_range*'
           or (b.request in (select name from journal) and b.path not glob '*tcp*' and b.path not glob '*;sock_*'
               and b.path not glob '*pipe_write*'))
)
select m.call as subject, c.cell, 1.0 as part, m.slow_count, m.against_count, m.slow_time / m.slow_count as mean,
    sum(c.slow) over () as slow, sum(c.against) over () as against,
       (select slow from total where metric = 'disks.flushes') as slow_flushes,
           (select against from total where metric = 'disks.flushes') as against_flushes
from cells c, most m
-- test claims: a sync for each record
-- syscall_use call=fsync slow_count=1 against_count=0.01 slow_time=0.005
-- budget* state=disk request=fsync slow=4
-- budget state=disk request=read slow=1
-- says '1 calls of `fsync()` per operation (baseline 0.0100): each waits for the disk for 5 ms'
-- test refuses: as many, which take longer
-- syscall_use call=fsync slow_count=1 against_count=1 slow_time=0.005
-- budget state=disk request=fsync slow=4 against=1
