-- view cpu_balance: how evenly the CPUs were used, for each interval
-- run: the run
-- t [ns]: end of the interval
-- least [ratio]: use of the least used CPU
-- mean [ratio]: mean use of all CPUs
-- most [ratio]: use of the most used CPU: near 1 while the mean is low, one thread is what all wait for
select run, t, min(busy_share) as least, avg(busy_share) as mean, max(busy_share) as most
from cpu_rate
group by run, t
