-- cause cpu-throttled: threads are throttled by the CPU quota of their control group
-- layer: scheduling
-- page: containers
-- needs: thread_time cgroup_cpu
-- says: threads are throttled by the CPU quota of {subject}[[, worth {cpus} CPUs]]
-- evidence: throttled per unit of work: {slow:s} (baseline {against:s})
-- evidence: periods with throttling: {periods:ratio}
-- check: cat cpu.stat in the control group: nr_throttled, throttled_usec
-- try: a higher quota (cpu.max, Kubernetes limits.cpu), none (requests only), or fewer threads, so that the quota lasts
--   for the period
-- experiment: setting /sys/fs/cgroup/GROUP/cpu.max: x1 x2 max
-- experiment: parameter threads: x0.5 x1
-- see: Documentation/scheduler/sched-bwc.rst
-- tail: throttled
-- tail-says: slow requests are held back {more:s} longer by a CPU quota
-- claims:
select coalesce(
           -- Of the groups that the workload is in, and those above them: a parent's quota holds its children back, too.
           (select w.path from w_cgroup_cpu w join own_cgroup o on o.run = w.run and o.path = w.path
            where w.side = 'slow' group by w.path having sum(w.nr_throttled) > 0
            order by sum(w.throttled * w.seconds) desc, max(o.above) limit 1),
           'the control group') as subject, cell, 1.0 as part
from budget where state = 'throttled'
-- tells:
select path as subject, sum(nr_throttled * seconds) / nullif(sum(nr_periods * seconds), 0) as periods,
       max("limit") as cpus
from w_cgroup_cpu where side = 'slow' and path in (select subject from claimed) group by path
-- test claims: its own group, though another of the host is held back more
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- w_cgroup_cpu run=slow side=slow path=/pods/a seconds=1 nr_throttled=5 nr_periods=10 limit=0.5 throttled=0.4
-- w_cgroup_cpu run=slow side=slow path=/pods/b seconds=1 nr_throttled=9 nr_periods=10 limit=0.1 throttled=3
-- budget* state=throttled slow=4
-- budget state=user slow=1 against=1
-- says 'the CPU quota of /pods/a, worth 0.500 CPUs'
-- test claims: the quota of a parent
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- own_cgroup run=slow side=slow path=/pods above=1
-- w_cgroup_cpu run=slow side=slow path=/pods seconds=1 nr_throttled=5 nr_periods=10 limit=2 throttled=1
-- w_cgroup_cpu run=slow side=slow path=/pods/a seconds=1 nr_throttled=0 nr_periods=0
-- budget* state=throttled slow=4
-- says '/pods, worth 2 CPUs'
-- test refuses: a group was held back, and none of the threads
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- w_cgroup_cpu run=slow side=slow path=/pods/a seconds=1 nr_throttled=5 nr_periods=10 limit=0.5 throttled=0.4
-- budget state=runnable slow=4
