-- cause sync-writes: operations wait until their data is on disk
-- layer: io
-- page: disks calls
-- needs: thread_time syscall
-- yields: compaction goroutine-lock heap-size ipi memory-limit nagle page-faults slow-clock thundering-herd
-- says: {slow_count} calls of {subject:fn} per unit of work (baseline {against_count}): each waits for the disk for
--   {mean:s}
-- evidence: time in syncs per unit of work: {slow:s} (baseline {against:s})
-- evidence: cache flushes of the disks per unit of work: {slow_flushes} (baseline {against_flushes})
-- check: strace -f -T -e trace=fsync,fdatasync,msync,sync_file_range -p PID; twinscope flame SLOW.twin --state disk
-- try: one sync for many operations (group commit, batches), or none where data may be lost: PostgreSQL
--   synchronous_commit=off or commit_delay, Redis appendfsync everysec, SQLite journal_mode=WAL with synchronous=NORMAL
-- try: a disk with power-loss protection
-- experiment: parameter operations-per-sync: x1 x10
-- see: fsync(2)
-- when:
with syncs as materialized (
    select call, slow_count, against_count, slow_time, grown(slow_count, against_count, 1.2, 1.4) as score
    from syscall_use where call_group(call) = 'sync'
)
select s.score, s.call, s.slow_count, s.against_count, s.slow_time / nullif(s.slow_count, 0) as mean,
       (select sum(slow_count) from syncs where score > 0) as slow_all,
       (select nullif(sum(against_count), 0) from syncs where score > 0) as against_all,
       (select slow from total where metric = 'disks.flushes') as slow_flushes,
       (select against from total where metric = 'disks.flushes') as against_flushes
from syncs s where s.score > 0 order by s.slow_time desc limit 1
-- claims:
with
-- What is written or removed for each sync as before, some pages at most, is done for it: a journal for each commit.
-- More syncs of megabytes follow from more data.
journal as materialized (
    select u.call from syscall_use u, given
    where call_group(u.call) in ('write', 'file')
      and u.slow_count / slow_all < 1.3 * u.against_count / against_all
      and coalesce(u.slow_bytes, 0) / slow_all <= min(65536, 1.3 * coalesce(u.against_bytes, 0) / against_all)
)
select given.call as subject, cell, 1.0 as part from budget, given
where state in ('disk', 'kernel', 'user', 'lock', 'other', 'sleep', 'idle')
  and (call_group(coalesce(request, what)) = 'sync' or has_role(roles, 'flush') or state = 'idle' and share > 0
       or request in (select call from journal) and not has_role(roles, 'kernel.socket', 'kernel.pipe'))
-- test claims: a sync for each record
-- syscall_use call=fsync slow_count=1 against_count=0.01 slow_time=0.005
-- budget* state=disk request=fsync slow=4
-- budget state=disk request=read slow=1
-- says '1 calls of `fsync()` per operation (baseline 0.0100): each waits for the disk for 5 ms'
-- test refuses: as many, which take longer
-- syscall_use call=fsync slow_count=1 against_count=1 slow_time=0.005
-- budget state=disk request=fsync slow=4 against=1
