-- cause steal: the hypervisor runs other machines on the CPUs (steal)
-- layer: scheduling
-- page: cpu
-- needs: thread_time cpu
-- specific: 6
-- says: steal takes {slow_steal} CPUs (baseline {against_steal})
-- evidence: steal from running threads per unit of work: {slow:s} (baseline {against:s})
-- check: vmstat 1: st; mpstat -P ALL 1: %steal
-- try: another instance type or size: burstable types (AWS T, Azure B, GCP shared-core) run out of credits; dedicated
--   hosts
-- see: Documentation/filesystems/proc.rst (/proc/stat)
with steal as materialized (
    select t.slow_rate as slow_steal, coalesce(t.against_rate, 0) as against_steal,
           t.slow_rate / nullif(t.slow_rate + (select coalesce(sum(slow_rate), 0) from total
               where metric in ('cpu.irq', 'cpu.softirq')), 0) as part
    from total t where t.metric = 'cpu.steal' and t.slow_rate > 0.05
        and t.slow_rate > 1.25 * coalesce(t.against_rate, 0)
)
select 'hypervisor' as subject, cell, coalesce(s.part, 1.0) as part, slow, against, s.slow_steal, s.against_steal
    from budget, steal s where state = 'stolen'
-- test claims: another machine takes the CPUs
-- total metric=cpu.steal slow_rate=0.5 against_rate=0.01
-- budget* state=stolen slow=2
-- budget state=neighbours slow=1
-- test refuses: hardly anything
-- total metric=cpu.steal slow_rate=0.02 against_rate=0.01
-- budget state=stolen slow=2
