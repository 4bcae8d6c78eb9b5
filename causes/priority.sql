-- cause priority: threads run at a lower priority than others
-- layer: scheduling
-- page: processes scheduler
-- needs: thread_time process cpu
-- specific: 7
-- says: threads run at nice {slow_nice} (baseline {against_nice}) and yield the CPUs to others
-- evidence: run-queue wait per unit of work: {slow:s} (baseline {against:s})
-- check: ps -eo ni,cls,comm; cat cpu.weight in the control group
-- try: renice, chrt, or a higher cpu.weight
-- see: sched(7), nice(1)
with nice_of as materialized (
    select comm, mean(iif(side = 'slow', nice, null), seconds) as slow,
        mean(iif(side = 'against', nice, null), seconds) as against
    from w_process where comm in (select distinct comm from budget where comm is not null and aside = 0) group by comm
),
-- A helper that hardly runs says nothing of the others.
low as materialized (
    select n.comm as comm, n.slow as slow, coalesce(n.against, 0) as against from nice_of n
        join thread_group g on g.comm = n.comm
    where n.slow >= coalesce(n.against, 0) + 1
    group by n.comm having sum(g.slow_cpu) > 0.1 * (select sum(slow_cpu) from thread_group)
        or sum(g.against_cpu) > 0.1 * (select sum(against_cpu) from thread_group)
),
-- Threads of the workload that got the CPUs which those of low priority waited for.
before as materialized (
    select g.comm as comm, g.thread as thread from thread_group g join nice_of n on n.comm = g.comm, measure e
    where e.name = 'elapsed' and g.slow_cpu > 1.5 * g.against_cpu and n.slow < (select min(slow) from low) and exists (
        select 1 from thread_group d join low on low.comm = d.comm
        where d.slow_cpu > 0 and d.slow_cpu < 1.3 * d.against_cpu
            and d.slow_runnable - d.against_runnable > 0.4 * (e.slow - e.against))
),
nice as materialized (select avg(slow) as slow_nice, avg(against) as against_nice from low having count(*) > 0),
waited as materialized (
    select sum(slow_runnable) + (select sum(slow) from budget where state = 'neighbours') as slow,
           sum(against_runnable) + (select sum(against) from budget where state = 'neighbours') as against
    from thread_group where comm in (select comm from low)
)
select 'nice ' || human(n.slow_nice, '') as subject, b.cell, 1.0 as part, w.slow, w.against,
    round(n.slow_nice) as slow_nice, round(n.against_nice) as against_nice
from budget b, nice n, waited w where b.state = 'neighbours'
    or (b.state in ('user', 'kernel') and exists (select 1 from before x where x.comm = b.comm and x.thread = b.thread))
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
