-- cause priority: threads have a lower priority than their neighbours
-- layer: scheduling
-- needs: thread_time process cpu
-- specific: 7
-- says: the threads run at nice {slow_nice}, against {against_nice}: others go first
-- evidence: waited for CPUs that others had per unit of work: {slow:s}, against {against:s}
-- check: ps -eo ni,cls,comm; cat cpu.weight in the control group
-- try: renice, chrt, or a higher cpu.weight
-- see: sched(7), nice(1)
with nice as materialized (
    select avg(iif(s.side = 'slow', r.nice, null)) as slow_nice, avg(iif(s.side = 'against', r.nice, null)) as against_nice
    from process_rate r join side s on s.run = r.run
    where r.t between s.t_from and s.t_to + 1000000000 and r.comm in (select distinct comm from budget where comm is not null and aside = 0)
)
select 'nice ' || human(n.slow_nice, '') as subject, cell, 1.0 as part, slow, against, round(n.slow_nice) as slow_nice, round(coalesce(n.against_nice, 0)) as against_nice
from budget, nice n where state = 'neighbours' and n.slow_nice >= coalesce(n.against_nice, 0) + 1
