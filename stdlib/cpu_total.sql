-- view cpu_total: CPU time of all CPUs together, for each interval
-- run: the run
-- t [ns]: end of the interval
-- seconds [s]: length of the interval
-- cpus: CPUs that were measured
-- busy [s/s]: CPUs in use
-- user [s/s]: in user mode, guests and lowered priority included
-- system [s/s]: in the kernel on behalf of threads
-- irq [s/s]: in hard and soft interrupts
-- iowait [s/s]: idle while a thread waits for disk I/O
-- steal [s/s]: wanted to run, and the hypervisor ran something else
-- idle [s/s]: idle
-- busy_share [ratio]: CPUs in use, as a share of all
select run, t, seconds, count(*) as cpus, sum(busy) as busy, sum(user + nice) as user, sum(system) as system,
       sum(irq + softirq) as irq, sum(iowait) as iowait, sum(steal) as steal, sum(idle) as idle,
       sum(busy) / count(*) as busy_share
from cpu_rate
group by run, t
