-- cause noisy-neighbour: other programs use the CPUs
-- layer: scheduling
-- page: processes cpu
-- needs: thread_time cpu process
-- specific: 5
-- says: other programs use {slow_others} CPUs (baseline {against_others}){who}
-- evidence: run-queue wait behind them per unit of work: {slow:s} (baseline {against:s})
-- check: pidstat -u 1; top
-- try: give the workload CPUs of its own (cpusets, taskset), or more weight (cpu.weight, nice); move the neighbour
-- experiment: with and without the neighbour; cpu.weight
-- see: sched(7)
with others as materialized (
    select slow as slow_others, coalesce(against, 0) as against_others from measure where name = 'others'
        and slow > 0.15 and (against is null or slow > 1.25 * against + 0.1)
),
names as materialized (
    select comm, sum(iif(side = 'slow', cpu_time * per_second, 0)) as slow,
        sum(iif(side = 'against', cpu_time * per_second, 0)) as against
    from w_process where comm not in (select distinct comm from budget where comm is not null)
    group by comm order by slow - against desc limit 1
),
-- A program that the command itself started can be one too: then it is in the way of threads that do what they did
-- before.
delayed as materialized (
    select 1 from thread_group, measure e where e.name = 'elapsed' and slow_cpu < 1.3 * against_cpu and slow_cpu > 0
        and slow_runnable - against_runnable > 0.4 * (e.slow - e.against)
),
started as materialized (
    select group_concat(comm, ', ') as comm, sum(slow_cpu) / (select slow from measure where name = 'elapsed') as cpus
        from stranger where exists (select 1 from delayed) having count(*) > 0
)
select coalesce((select comm from names where slow > against + 0.05), 'other programs') as subject, cell, 1.0 as part,
    slow, against, o.slow_others, o.against_others,
       coalesce((select ', first of all ' || comm from names where slow > against + 0.05), '') as who
from budget, others o where state = 'neighbours' and not exists (select 1 from started)
union all
select s.comm, b.cell, 1.0, b.slow, b.against, s.cpus + coalesce(o.slow_others, 0), coalesce(o.against_others, 0),
    ', first of all ' || s.comm || ', which the command started'
from budget b, started s left join others o where b.state in ('runnable', 'neighbours')
    or (b.comm in (select comm from stranger) and b.share > 0)
-- test claims: another program takes a CPU
-- measure name=others slow=1 against=0.1
-- w_process side=slow comm=rustc cpu_time=0.9 per_second=1
-- budget* state=neighbours slow=3
-- budget state=runnable slow=1
-- says 'first of all rustc'
-- test refuses: it was there before
-- measure name=others slow=1 against=0.9
-- w_process side=slow comm=rustc cpu_time=0.9 per_second=1
-- w_process side=against comm=rustc cpu_time=0.8 per_second=1
-- budget state=neighbours slow=3
