-- cause cpu-affinity: threads wait for a CPU while other CPUs are idle
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time cpu process_info.cpus_allowed
-- specific: 6
-- says: {waiting} threads are in run-queue wait while {idle} CPUs are idle: a CPU mask or cpuset; {comm} may use
--   {allowed} of {cpus} CPUs
-- evidence: run-queue wait behind the workload's own threads per unit of work: {slow:s} (baseline {against:s})
-- evidence: idle CPUs on average: {idle} (baseline {against_idle})
-- check: taskset -cp PID; cat cpuset.cpus.effective in the control group; grep Cpus_allowed_list /proc/PID/status
-- try: a wider mask: taskset, sched_setaffinity, numactl, cpuset.cpus, docker --cpuset-cpus, GOMAXPROCS,
--   -XX:ActiveProcessorCount
-- experiment: CPU mask
-- see: sched_setaffinity(2), cpuset(7)
with idle as materialized (select slow as idle, against as against_idle from measure where name = 'idle_cpus'
    and slow > 0.25),
waiting as materialized (select slow_threads as waiting from state where state = 'runnable' and slow_threads > 0.25),
-- Without a mask, threads that wait beside an idle CPU were woken where their waker still ran: that is no matter of a
-- mask.
masked as materialized (
    select p.name as comm, min(p.cpus_allowed) as allowed, m.slow as cpus from process_info p
        join side s on s.run = p.run and s.side = 'slow', measure m
    where m.name = 'cpus' and p.name in (select distinct comm from budget where comm is not null and aside = 0)
        and p.cpus_allowed < m.slow group by p.name order by 2 limit 1
)
select 'CPU mask' as subject, b.cell, 1.0 as part, i.idle, i.against_idle, w.waiting, b.slow, b.against, m.comm,
    m.allowed, m.cpus
from budget b, idle i, waiting w, masked m where b.state in ('runnable', 'fewer_threads')
    or (b.state = 'idle' and b.share > 0)
-- test claims: one CPU of two
-- measure name=idle_cpus slow=1 against=0
-- process_info run=slow name=app cpus_allowed=1
-- budget* state=runnable slow=3
-- budget state=user slow=1 against=1
-- says '3 threads are in run-queue wait while 1 CPUs are idle: a CPU mask or cpuset; app may use'
-- test refuses: all CPUs are allowed
-- measure name=idle_cpus slow=1 against=0
-- process_info run=slow name=app cpus_allowed=2
-- budget state=runnable slow=3
