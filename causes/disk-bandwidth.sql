-- cause disk-bandwidth: more is read from or written to disk than the work needs
-- layer: io
-- page: disks
-- needs: thread_time disks
-- yields: cold-cache disk-latency kernel-lock log-volume migrations run-queue-wait
-- says: {slow_bytes:B} {way} per unit of work (baseline {against_bytes:B})[[; the busiest disk was in
--   use for {utilisation:ratio} of the time]]
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: disk throughput: {rate:B/s} (baseline {against_rate:B/s})
-- check: iostat -xm 1; pidstat -d 1
-- try: read and write less: larger or fewer blocks, compression, an index, a cache, no read-ahead for random reads
--   (posix_fadvise, blockdev --setra)
-- try: a faster volume, or several
-- experiment: parameter block-size: x1 x4
-- experiment: setting /sys/block/DEVICE/queue/read_ahead_kb: x1 x4
-- see: iostat(1)
-- when:
select grown(slow, against, 1.3, 1.7) * ramp(slow_rate, 7e5, 1.4e6) as score,
       iif(metric = 'process.read_bytes', 'read', 'written') as way,
       slow as slow_bytes, coalesce(against, 0) as against_bytes, slow_rate as rate,
       coalesce(against_rate, 0) as against_rate,
       (select slow_rate from total where metric = 'disks.utilisation') as utilisation
from total where metric in ('process.read_bytes', 'process.write_bytes')
order by grown(slow, against, 1.3, 1.7) * ramp(slow_rate, 7e5, 1.4e6) > 0 desc, slow - coalesce(against, 0) desc limit 1
-- claims:
select 'bytes ' || way as subject, cell, 1.0 as part from budget, given
where state in ('disk', 'fault') or state = 'kernel' and has_role(roles, 'kernel.page-cache', 'kernel.disk')
-- test claims: a hundred times as many bytes
-- total metric=process.read_bytes slow=1e8 against=1e6 slow_rate=5e7
-- total metric=disks.utilisation slow_rate=0.9
-- budget* state=disk slow=5
-- budget state=user slow=1 against=1
-- test refuses: as many bytes, more slowly
-- total metric=process.read_bytes slow=1e8 against=1e8 slow_rate=5e7
-- total metric=disks.utilisation slow_rate=0.9
-- budget state=disk slow=5
