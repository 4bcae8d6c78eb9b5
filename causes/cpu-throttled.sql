-- cause cpu-throttled: threads are throttled by the CPU quota of their control group
-- layer: scheduling
-- page: containers
-- needs: thread_time cgroup_cpu
-- specific: 8
-- says: threads are throttled by the CPU quota of {subject}{worth}
-- evidence: throttled per unit of work: {slow:s} (baseline {against:s})
-- evidence: periods with throttling: {periods:ratio}
-- check: cat cpu.stat in the control group: nr_throttled, throttled_usec
-- try: a higher quota (cpu.max, Kubernetes limits.cpu), none (requests only), or fewer threads, so that the quota lasts
--   for the period
-- experiment: cpu.max; number of threads
-- see: Documentation/scheduler/sched-bwc.rst
with groups as materialized (
    select r.path as path, sum(r.nr_throttled * r.seconds) / nullif(sum(r.nr_periods * r.seconds), 0) as periods, max(r."limit") as cpus, sum(r.throttled * r.seconds) as time
    from cgroup_cpu_rate r join side s on s.run = r.run where s.side = 'slow' and r.t between s.t_from and s.t_to + 1000000000
    group by r.path having sum(r.nr_throttled) > 0 order by time desc limit 1
)
select coalesce((select path from groups), 'the control group') as subject, cell, 1.0 as part, slow, against, (select periods from groups) as periods,
       coalesce(', worth ' || human((select cpus from groups), '') || ' CPUs', '') as worth
from budget where state = 'throttled'
