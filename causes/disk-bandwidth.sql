-- cause disk-bandwidth: more is read from or written to disk than the work needs
-- layer: io
-- page: disks
-- needs: thread_time disks
-- specific: 4
-- says: {slow_bytes:B} {way} per unit of work (baseline {against_bytes:B}){used}
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: disk throughput: {rate:B/s} (baseline {against_rate:B/s})
-- check: iostat -xm 1; pidstat -d 1
-- try: read and write less: larger or fewer blocks, compression, an index, a cache, no read-ahead for random reads
--   (posix_fadvise, blockdev --setra)
-- try: a faster volume, or several
-- experiment: block size; read_ahead_kb
-- see: iostat(1)
with moved as materialized (
    select replace(replace(metric, 'process.', ''), '_bytes', '') as way, slow, coalesce(against, 0) as against,
        slow_rate as rate, coalesce(against_rate, 0) as against_rate
    from total where metric in ('process.read_bytes', 'process.write_bytes') and slow > 1.5 * coalesce(against, 0)
        and slow_rate > 1048576 order by slow - coalesce(against, 0) desc limit 1
),
busy as (select slow_rate as utilisation from total where metric = 'disks.utilisation')
select 'bytes ' || m.way as subject, iif(m.way = 'read', 'read', 'written') as way, b.cell, 1.0 as part,
    m.slow as slow_bytes, m.against as against_bytes, m.rate, m.against_rate,
       coalesce('; the busiest disk was in use for ' || human((select utilisation from busy), 'ratio')
           || ' of the time', '') as used,
       sum(b.slow) over () as slow, sum(b.against) over () as against
from budget b, moved m
where b.state in ('disk', 'fault') or (b.state = 'kernel' and (b.path glob '*;filemap_read;*'
    or b.path glob '*;blkdev_*' or b.path glob '*;submit_bio*' or b.path glob '*;generic_perform_write;*'
    or b.path glob '*iomap*'
      or b.path glob '*;ext4_*' or b.path glob '*;xfs_*' or b.path glob '*;btrfs_*'))
-- test claims: a hundred times as many bytes
-- total metric=process.read_bytes slow=1e8 against=1e6 slow_rate=5e7
-- total metric=disks.utilisation slow_rate=0.9
-- budget* state=disk slow=5
-- budget state=user slow=1 against=1
-- test refuses: as many bytes, more slowly
-- total metric=process.read_bytes slow=1e8 against=1e8 slow_rate=5e7
-- total metric=disks.utilisation slow_rate=0.9
-- budget state=disk slow=5
