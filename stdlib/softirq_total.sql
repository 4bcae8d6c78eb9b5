-- view softirq_total: runs of soft interrupts by kind, all CPUs together, for each interval
-- run: the run
-- t [ns]: end of the interval
-- kind: kind of soft interrupt
-- count [1/s]: runs
-- largest_share [ratio]: share of the CPU that ran most
select run, t, kind, sum(count) as count, max(count) / nullif(sum(count), 0) as largest_share
from softirqs_rate
group by run, t, kind
