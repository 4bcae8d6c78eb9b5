-- view interrupt_total: interrupts by device, all CPUs together, for each interval
-- run: the run
-- t [ns]: end of the interval
-- device: the handlers of the line, or the kernel's description of one of its own
-- count [1/s]: interrupts handled
-- cpus: CPUs that handled any
-- largest_share [ratio]: share of the CPU that handled most: 1 where all go to one CPU
select run, t, device, sum(count) as count, sum(count > 0) as cpus, max(count) / nullif(sum(count), 0) as largest_share
from interrupts_rate
group by run, t, device
