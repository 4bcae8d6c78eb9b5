-- cause noisy-neighbour: other programs use the CPUs
-- layer: scheduling
-- needs: thread_time cpu process
-- specific: 5
-- says: other programs use {slow_others} CPUs, against {against_others}{who}
-- evidence: waited for CPUs that they had per unit of work: {slow:s}, against {against:s}
-- check: pidstat -u 1; top
-- try: give the workload CPUs of its own (cpusets, taskset), or more weight (cpu.weight, nice); move the neighbour
-- experiment: with and without the neighbour; cpu.weight
-- see: sched(7)
with others as materialized (
    select slow as slow_others, coalesce(against, 0) as against_others from measure where name = 'others' and slow > 0.15 and (against is null or slow > 1.25 * against + 0.1)
),
names as materialized (
    select r.comm as comm, sum(iif(s.side = 'slow', r.cpu_time * r.seconds / s.seconds, 0)) as slow, sum(iif(s.side = 'against', r.cpu_time * r.seconds / s.seconds, 0)) as against
    from process_rate r join side s on s.run = r.run
    where r.t between s.t_from and s.t_to + 1000000000 and r.comm not in (select distinct comm from budget where comm is not null) group by r.comm order by slow - against desc limit 1
)
select coalesce((select comm from names where slow > against + 0.05), 'other programs') as subject, cell, 1.0 as part, slow, against, o.slow_others, o.against_others,
       coalesce((select ', first of all ' || comm from names where slow > against + 0.05), '') as who
from budget, others o where state = 'neighbours'
