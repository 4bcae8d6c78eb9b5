-- cause run-queue-wait: more runnable threads than CPUs
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time cpu
-- yields: busy-wait goroutine-sleep lock-contention memory-reclaim timers
-- says: {waiting} threads of the workload are in run-queue wait on average (baseline {against_waiting})
-- evidence: run-queue wait behind the workload's own threads per unit of work: {slow:s} (baseline {against:s})
-- evidence: threads: {threads} (baseline {against_threads})
-- check: vmstat 1: r; twinscope sql SLOW.twin "select * from run_queue"
-- try: as many busy threads as CPUs; background work in its own pool at a lower priority (nice, SCHED_IDLE, cpu.weight)
-- experiment: parameter threads: x0.5 x1
-- see: sched(7)
-- tail: runnable
-- tail: queued_runnable
-- tail-says: slow requests wait {more:s} longer for a CPU
-- when:
with
-- Threads whose own work costs no more CPU time, and that wait for a CPU for most of what is lost: others of the
-- workload are in their way.
delayed as materialized (
    select comm, thread from thread_group, measure e
    where e.name = 'elapsed' and slow_cpu < 1.3 * against_cpu and slow_cpu > 0
      and slow_runnable - against_runnable > 0.4 * (e.slow - e.against)
),
busy as materialized (
    select comm, thread from thread_group
    where slow_cpu > 1.5 * against_cpu and exists (select 1 from delayed)
      and (comm, thread) not in (select comm, thread from delayed)
      -- Programs of their own are neighbours.
      and not exists (select 1 from stranger)
)
select ramp(w.slow_threads, 0.2, 0.3)
       * max(grown(w.slow_threads, w.against_threads, 1.15, 1.35), exists (select 1 from busy))
       -- As many as there are CPUs are not too many.
       * ramp(t.slow / c.slow, 1.0, 1.1)
       -- Beside idle CPUs it is not that there are too many. Where they have to switch all the time they are idle for
       -- moments in between.
       * ramp(-i.slow / c.slow, -0.25 - 0.2 * ramp(w.slow_threads / c.slow, 1.5, 2.5),
              -0.15 - 0.2 * ramp(w.slow_threads / c.slow, 1.5, 2.5)) as score,
       w.slow_threads as waiting, w.against_threads as against_waiting, t.slow as threads, t.against as against_threads,
       (select thread from busy order by comm, thread limit 1) as busy,
       (select comm from busy order by comm, thread limit 1) as busy_comm,
       (select thread from delayed order by comm, thread limit 1) as delayed,
       -- So many more of them than before that the kernel spends its time on whose turn it is.
       ramp(w.slow_threads / c.slow, 1.5, 2.5) * ramp(t.slow / c.slow, 1.5, 2.5) * grown(t.slow, t.against, 1.7, 2.3)
           as crowd
from state w, measure t, measure c, measure i
where w.state = 'runnable' and t.name = 'threads' and c.name = 'cpus' and i.name = 'idle_cpus'
-- claims:
select coalesce(busy || ' before ' || delayed, 'run queue') as subject, cell,
       iif(state = 'runnable' or (comm, thread) = (busy_comm, busy) and state in ('user', 'kernel'), 1.0, crowd) as part
from budget, given
where state = 'runnable' or state = 'idle' and share > 0
   or state in ('kernel', 'user')
      and (has_role(roles, 'kernel.switch', 'kernel.wake') or request in ('switch', 'futex', 'sched_yield')
           or (comm, thread) = (busy_comm, busy))
-- tells:
select sum(slow) as slow, sum(against) as against from budget where state = 'runnable'
-- test claims: eight threads on two CPUs
-- measure name=threads slow=8 against=2
-- budget* state=runnable slow=6 against=1
-- budget state=user slow=1 against=1
-- says '6 threads of the workload are in run-queue wait on average (baseline 1)'
-- test refuses: CPUs are idle beside them
-- measure name=threads slow=8 against=2
-- measure name=idle_cpus slow=1 against=0
-- budget state=runnable slow=6 against=1
-- test refuses: as many threads as CPUs
-- measure name=threads slow=2 against=2
-- budget state=runnable slow=0.8 against=0.1
