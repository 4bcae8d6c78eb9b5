-- cause run-queue-wait: more runnable threads than CPUs
-- layer: scheduling
-- page: scheduler cpu
-- needs: thread_time cpu
-- specific: 5
-- says: {waiting} threads of the workload are in run-queue wait on average (baseline {against_waiting})
-- evidence: run-queue wait behind the workload's own threads per unit of work: {slow:s} (baseline {against:s})
-- evidence: threads: {threads} (baseline {against_threads})
-- check: vmstat 1: r; twinscope sql SLOW.twin "select * from run_queue"
-- try: as many busy threads as CPUs; background work in its own pool at a lower priority (nice, SCHED_IDLE, cpu.weight)
-- experiment: number of threads
-- see: sched(7)
with
-- Threads whose own work costs no more CPU time, and that wait for a CPU for most of what is lost: others of the
-- workload are in their way.
delayed as materialized (
    select comm, thread from thread_group, measure e
    where e.name = 'elapsed' and slow_cpu < 1.3 * against_cpu and slow_cpu > 0
        and slow_runnable - against_runnable > 0.4 * (e.slow - e.against)
),
busy as materialized (
    select comm, thread from thread_group where slow_cpu > 1.5 * against_cpu and exists (select 1 from delayed)
        and (comm, thread) not in (select comm, thread from delayed)
      -- Programs of their own are neighbours.
      and not exists (select 1 from stranger)
),
waiting as materialized (select slow_threads as waiting, against_threads as against_waiting from state
    where state = 'runnable' and slow_threads > 0.25
    and (slow_threads > 1.25 * against_threads or exists (select 1 from busy))
    -- As many as there are CPUs are not too many.
    and (select t.slow > 1.05 * c.slow from measure t, measure c where t.name = 'threads' and c.name = 'cpus')
    -- Beside idle CPUs it is not that there are too many. Where they have to switch all the time they are idle for
    -- moments in between.
    and exists (select 1 from measure i, measure c where i.name = 'idle_cpus' and c.name = 'cpus'
        and i.slow < iif(slow_threads > 2 * c.slow, 0.4, 0.2) * c.slow)),
threads as (select slow as threads, against as against_threads from measure where name = 'threads'),
-- So many more of them than before that the kernel spends its time on whose turn it is.
crowd as materialized (
    select 1 from waiting w, threads t, measure c where c.name = 'cpus' and w.waiting > 2 * c.slow
        and t.threads > 2 * c.slow and t.threads > 2 * t.against_threads
)
select coalesce((select thread from busy limit 1) || ' before ' || (select thread from delayed limit 1),
    'run queue') as subject, b.cell, 1.0 as part, w.waiting, w.against_waiting, t.threads, t.against_threads,
       (select sum(slow) from budget where state = 'runnable') as slow,
           (select sum(against) from budget where state = 'runnable') as against
from budget b, waiting w, threads t where b.state = 'runnable'
    or (b.state = 'idle' and b.share > 0 and exists (select 1 from crowd))
    or (b.state in ('kernel', 'user') and exists (select 1 from crowd)
    and (b.path glob '*;schedule;*' or b.path glob '*;__schedule;*' or b.path glob '*try_to_wake_up*'
        or b.path glob '*;wake_up_*' or b.request in ('switch', 'futex', 'sched_yield')))
        or (b.state in ('user', 'kernel') and exists (select 1 from busy x where x.thread = b.thread))
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
