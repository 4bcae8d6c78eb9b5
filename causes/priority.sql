-- cause priority: threads run at a lower priority than others
-- layer: scheduling
-- page: processes scheduler
-- needs: thread_time process cpu
-- yields: explicit-gc process-creation tlb-shootdown
-- says: threads run at nice {slow_nice} (baseline {against_nice}) and yield the CPUs to others
-- evidence: run-queue wait per unit of work: {slow:s} (baseline {against:s})
-- check: ps -eo ni,cls,comm; cat cpu.weight in the control group
-- try: renice, chrt, or a higher cpu.weight
-- see: sched(7), nice(1)
-- when:
with nice_of as materialized (
    select comm, mean(iif(side = 'slow', nice, null), seconds) as slow,
           coalesce(mean(iif(side = 'against', nice, null), seconds), 0) as against
    from w_process where comm in (select distinct comm from budget where comm is not null and aside = 0) group by comm
),
-- A helper that hardly runs says nothing of the others.
low as materialized (
    select n.comm as comm, n.slow as slow, n.against as against from nice_of n join thread_group g on g.comm = n.comm
    where n.slow > n.against
    group by n.comm having sum(g.slow_cpu) > 0.1 * (select sum(slow_cpu) from thread_group)
        or sum(g.against_cpu) > 0.1 * (select sum(against_cpu) from thread_group)
)
select ramp(max(slow - against), 0.5, 1.0) as score, round(avg(slow)) as slow_nice, round(avg(against)) as against_nice,
       'nice ' || human(avg(slow), '') as low, group_concat(comm, '/') as comms, min(slow) as least
from low having count(*) > 0
-- claims:
with
-- Threads of the workload that got the CPUs which those of low priority waited for.
ahead as materialized (
    select g.comm as comm, g.thread as thread from thread_group g, given, measure e
    where e.name = 'elapsed' and g.slow_cpu > 1.5 * g.against_cpu and instr(comms, g.comm) = 0
      and (select mean(nice, seconds) from w_process p where p.comm = g.comm and p.side = 'slow') < least
      and exists (select 1 from thread_group d where instr(comms, d.comm) > 0 and d.slow_cpu > 0
                  and d.slow_cpu < 1.3 * d.against_cpu
                  and d.slow_runnable - d.against_runnable > 0.4 * (e.slow - e.against))
)
select low as subject, b.cell, 1.0 as part from budget b, given
where b.state = 'neighbours' or b.state in ('user', 'kernel') and (b.comm, b.thread) in (select comm, thread from ahead)
-- tells:
select sum(slow_runnable) + (select sum(slow) from budget where state = 'neighbours') as slow,
       sum(against_runnable) + (select sum(against) from budget where state = 'neighbours') as against
from thread_group, given where instr(comms, comm) > 0
-- test claims: the workload is nice
-- w_process side=slow comm=app nice=10 seconds=1
-- w_process side=against comm=app nice=0 seconds=1
-- budget* state=neighbours slow=4
-- budget state=user slow=1 against=1
-- says 'threads run at nice 10 (baseline 0) and yield the CPUs to others'
-- test refuses: only a helper that hardly runs is
-- w_process side=slow comm=helper nice=10 seconds=1
-- w_process side=against comm=helper nice=0 seconds=1
-- w_process side=slow comm=app nice=0 seconds=1
-- w_process side=against comm=app nice=0 seconds=1
-- budget comm=helper thread=helper state=user slow=0.01 against=0.01
-- budget state=user slow=1 against=1
-- budget state=neighbours slow=4
