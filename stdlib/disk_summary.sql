-- view disk_summary: what each disk did over the whole recording
-- run: the run
-- kind: kind of device
-- device: name of the device
-- seconds [s]: time measured
-- reads [1/s]: reads completed
-- writes [1/s]: writes completed
-- read [B/s]: read from the device
-- written [B/s]: written to the device
-- read_await [s]: mean time of a read, queueing included
-- write_await [s]: mean time of a write, queueing included
-- flush_await [s]: mean time of a cache flush
-- queue_depth: requests in flight, on average
-- utilisation [ratio]: share of the time with a request in flight; says little of devices that serve many at once
-- utilisation_most [ratio]: the same in the busiest interval
select run, kind, device, sum(seconds) as seconds,
       sum(reads * seconds) / sum(seconds) as reads, sum(writes * seconds) / sum(seconds) as writes,
       sum(read * seconds) / sum(seconds) as read, sum(written * seconds) / sum(seconds) as written,
       sum(read_time * seconds) / nullif(sum(reads * seconds), 0) as read_await,
       sum(write_time * seconds) / nullif(sum(writes * seconds), 0) as write_await,
       sum(flush_time * seconds) / nullif(sum(flushes * seconds), 0) as flush_await,
       sum(queue_depth * seconds) / sum(seconds) as queue_depth,
       sum(utilisation * seconds) / sum(seconds) as utilisation, max(utilisation) as utilisation_most
from disks_rate
group by run, kind, device
