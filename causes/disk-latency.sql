-- cause disk-latency: disk requests take longer
-- layer: io
-- page: disks
-- needs: thread_time disks
-- against: yes
-- yields: gc memory-reclaim sync-writes
-- says: {device} takes {slow_await:s} per request (baseline {against_await:s})
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: requests per second: {slow_rate} (baseline {against_rate}); queue depth: {slow_depth} (baseline
--   {against_depth})
-- check: iostat -x 1: r_await, w_await, f_await
-- try: check what else uses the disk; provisioned IOPS and burst credits of a cloud volume; io.max of the control
--   group; the I/O scheduler
-- experiment: setting /sys/block/DEVICE/queue/scheduler: none mq-deadline
-- see: Documentation/admin-guide/iostats.rst
-- tail: disk
-- tail-says: slow requests wait {more:s} longer for a disk or a file system
-- when:
with each as materialized (
    select side, device, sum((coalesce(reads, 0) + coalesce(writes, 0) + coalesce(flushes, 0)) * seconds) as requests,
           sum((coalesce(read_time, 0) + coalesce(write_time, 0) + coalesce(flush_time, 0)) * seconds) as time,
           sum(queue_time * seconds) as queued, sum(seconds) as seconds
    from w_disks where kind in ('disk', 'stacked', 'loop') group by side, device
)
select grown(a.time / a.requests, b.time / b.requests, 1.3, 1.7) * ramp(a.time / a.requests, 0.00015, 0.00025)
       * ramp(min(a.requests, b.requests), 10, 30)
       -- More bytes, not slower requests, are another cause.
       * (1 - (select coalesce(max(grown(slow, against, 1.3, 1.7)), 0) from total
               where metric in ('process.read_bytes', 'process.write_bytes'))) as score,
       a.device as device, a.time / a.requests as slow_await, b.time / b.requests as against_await,
       a.requests / a.seconds as slow_rate, b.requests / b.seconds as against_rate,
       a.queued / a.seconds as slow_depth, b.queued / b.seconds as against_depth
from each a join each b on b.device = a.device and b.side = 'against'
where a.side = 'slow' and a.requests > 0 and b.requests > 0
order by grown(a.time / a.requests, b.time / b.requests, 1.3, 1.7) > 0 desc, a.time / a.seconds desc limit 1
-- claims:
select device as subject, cell, 1.0 as part from budget, given where state in ('disk', 'fault')
-- test claims: a request takes twenty times as long
-- w_disks side=slow device=vda kind=disk seconds=1 reads=100 read_time=1 queue_time=1
-- w_disks side=against device=vda kind=disk seconds=1 reads=100 read_time=0.05 queue_time=0.05
-- total metric=process.read_bytes slow=1 against=1
-- budget* state=disk slow=5
-- budget state=user slow=1 against=1
-- says 'vda takes 10 ms per request (baseline 500 µs)'
-- test refuses: there is more to read
-- w_disks side=slow device=vda kind=disk seconds=1 reads=100 read_time=1 queue_time=1
-- w_disks side=against device=vda kind=disk seconds=1 reads=100 read_time=0.05 queue_time=0.05
-- total metric=process.read_bytes slow=3 against=1
-- budget state=disk slow=5
