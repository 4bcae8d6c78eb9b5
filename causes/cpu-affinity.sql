-- cause cpu-affinity: threads wait for a CPU while other CPUs are idle
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time cpu process_info.cpus_allowed
-- yields: goroutine-lock heap-size irq-imbalance nagle priority thundering-herd
-- says: {waiting} threads are in run-queue wait while {idle} CPUs are idle: a CPU mask or cpuset; {comm} may use
--   {allowed} of {cpus} CPUs
-- evidence: run-queue wait behind the workload's own threads per unit of work: {slow:s} (baseline {against:s})
-- evidence: idle CPUs on average: {idle} (baseline {against_idle})
-- check: taskset -cp PID; cat cpuset.cpus.effective in the control group; grep Cpus_allowed_list /proc/PID/status
-- try: a wider mask: taskset, sched_setaffinity, numactl, cpuset.cpus, docker --cpuset-cpus, GOMAXPROCS,
--   -XX:ActiveProcessorCount
-- experiment: cpus mask: x1 all
-- see: sched_setaffinity(2), cpuset(7)
-- when:
select ramp(i.slow, 0.2, 0.3) * ramp(w.slow_threads, 0.2, 0.3) as score, i.slow as idle, i.against as against_idle,
       w.slow_threads as waiting, m.comm, m.allowed, c.slow as cpus
from measure i, state w, measure c,
     -- Without a mask, threads that wait beside an idle CPU were woken where their waker still ran: that is no matter
     -- of a mask.
     (select p.name as comm, min(p.cpus_allowed) as allowed from process_info p
          join side s on s.run = p.run and s.side = 'slow'
      where p.name in (select distinct comm from budget where comm is not null and aside = 0)
        and p.cpus_allowed < (select slow from measure where name = 'cpus')
      group by p.name order by 2 limit 1) m
where i.name = 'idle_cpus' and w.state = 'runnable' and c.name = 'cpus'
-- claims:
select 'CPU mask' as subject, cell, 1.0 as part from budget
where state in ('runnable', 'fewer_threads') or state = 'idle' and share > 0
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
