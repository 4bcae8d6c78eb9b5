-- cause steal: the hypervisor runs other machines on the CPUs (steal)
-- layer: scheduling
-- page: cpu
-- needs: thread_time cpu
-- yields: irq-imbalance
-- says: steal takes {slow_steal} CPUs (baseline {against_steal})
-- evidence: steal from running threads per unit of work: {slow:s} (baseline {against:s})
-- check: vmstat 1: st; mpstat -P ALL 1: %steal
-- try: another instance type or size: burstable types (AWS T, Azure B, GCP shared-core) run out of credits; dedicated
--   hosts
-- see: Documentation/filesystems/proc.rst (/proc/stat)
-- when:
select ramp(t.slow_rate, 0.03, 0.07) * grown(t.slow_rate, t.against_rate, 1.15, 1.35) as score,
       t.slow_rate as slow_steal, coalesce(t.against_rate, 0) as against_steal,
       t.slow_rate / nullif(t.slow_rate + (select coalesce(sum(slow_rate), 0) from total
                                           where metric in ('cpu.irq', 'cpu.softirq')), 0) as taken
from total t where t.metric = 'cpu.steal'
-- claims:
select 'hypervisor' as subject, cell, coalesce(taken, 1.0) as part from budget, given where state = 'stolen'
-- test claims: another machine takes the CPUs
-- total metric=cpu.steal slow_rate=0.5 against_rate=0.01
-- budget* state=stolen slow=2
-- budget state=neighbours slow=1
-- test refuses: hardly anything
-- total metric=cpu.steal slow_rate=0.02 against_rate=0.01
-- budget state=stolen slow=2
