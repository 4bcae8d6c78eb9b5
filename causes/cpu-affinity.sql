-- cause cpu-affinity: threads wait for a CPU while others are idle
-- layer: scheduling
-- needs: thread_time cpu
-- specific: 6
-- says: {waiting} threads waited for a CPU while {idle} CPUs were idle: a CPU mask or cpuset keeps them from running there
-- evidence: waited behind threads of their own per unit of work: {slow:s}, against {against:s}
-- evidence: CPUs idle on average: {idle}, against {against_idle}
-- check: taskset -cp PID; cat cpuset.cpus.effective in the control group; grep Cpus_allowed_list /proc/PID/status
-- try: a wider mask: taskset, sched_setaffinity, numactl, cpuset.cpus, docker --cpuset-cpus, GOMAXPROCS, -XX:ActiveProcessorCount
-- experiment: CPU mask
-- see: sched_setaffinity(2), cpuset(7)
with idle as materialized (select slow as idle, against as against_idle from measure where name = 'idle_cpus' and slow > 0.25),
waiting as materialized (select slow_threads as waiting from state where state = 'runnable' and slow_threads > 0.25)
select 'CPU mask' as subject, b.cell, 1.0 as part, i.idle, i.against_idle, w.waiting, b.slow, b.against
from budget b, idle i, waiting w where b.state in ('runnable', 'fewer_threads') or (b.state = 'idle' and b.share > 0)
