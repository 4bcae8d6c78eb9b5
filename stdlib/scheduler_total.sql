-- view scheduler_total: scheduling on all CPUs together, for each interval
-- run: the run
-- t [ns]: end of the interval
-- running [s/s]: threads that ran, on average
-- waiting [s/s]: threads that could run and waited for a CPU, on average
-- slices [1/s]: timeslices that were run
-- delay_per_slice [s]: how long a thread waited for a CPU before each timeslice
-- wakeups [1/s]: wake-ups of threads
-- wakeups_local [ratio]: share of them on the CPU that woke the thread
select run, t, sum(rq_cpu_time) as running, sum(run_delay) as waiting, sum(pcount) as slices,
       sum(run_delay) / nullif(sum(pcount), 0) as delay_per_slice, sum(ttwu_count) as wakeups,
       sum(ttwu_local) / nullif(sum(ttwu_count), 0) as wakeups_local
from schedstat_rate
group by run, t
