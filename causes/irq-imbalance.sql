-- cause irq-imbalance: the interrupts of a device fall on a CPU that the work needs
-- layer: kernel
-- needs: thread_time cpu
-- specific: 5
-- says: CPU {subject} spends {busy:ratio} of its time in interrupts, the others {rest:ratio}
-- evidence: taken from running threads per unit of work: {slow:s}, against {against:s}
-- check: mpstat -P ALL 1: %irq, %soft; /proc/interrupts
-- try: spread them: irqbalance, /proc/irq/N/smp_affinity_list, more queues; or keep the work off that CPU
-- see: Documentation/core-api/irq/irq-affinity.rst
with each as materialized (
    select r.cpu as cpu, sum((r.irq + r.softirq) * r.seconds) / sum(r.seconds) as busy from cpu_rate r join side s on s.run = r.run
    where s.side = 'slow' and r.t between s.t_from and s.t_to + 1000000000 group by r.cpu
),
one as materialized (select cpu, busy, (sum(busy) over () - busy) / nullif(count(*) over () - 1, 0) as rest from each order by busy desc limit 1),
grown as (select max(slow_rate > 1.5 * coalesce(against_rate, 0)) as more from total where metric in ('cpu.irq', 'cpu.softirq'))
select cast(o.cpu as text) as subject, b.cell, 1.0 as part, o.busy, o.rest, b.slow, b.against from budget b, one o, grown
where b.state = 'stolen' and o.busy > 0.1 and o.busy > 3 * o.rest and grown.more = 1
