-- cause irq-imbalance: interrupts of a device hit a CPU that the work needs
-- layer: kernel
-- page: interrupts cpu
-- needs: thread_time cpu interrupt_time process
-- yields: cpu-throttled explicit-gc tlb-shootdown
-- says: CPU {subject} spends {busy:ratio} of its time in interrupts, the others {rest:ratio}
-- evidence: time lost to interrupts, and run-queue wait meanwhile, per unit of work: {slow:s} (baseline {against:s})
-- check: mpstat -P ALL 1: %irq, %soft; /proc/interrupts
-- try: spread them: irqbalance, /proc/irq/N/smp_affinity_list, RPS (/sys/class/net/IFACE/queues/rx-0/rps_cpus), more
--   queues; or keep the work off that CPU
-- see: Documentation/core-api/irq/irq-affinity.rst, Documentation/networking/scaling.rst
-- when:
with each as materialized (
    select n.cpu as cpu, coalesce(sum(r.time * r.per_second), 0.0) as busy
    from (select distinct cpu from w_cpu where side = 'slow') n
         left join w_interrupt_time r on r.side = 'slow' and r.cpu = n.cpu and r.kind in ('irq', 'softirq')
    group by n.cpu
)
select ramp(busy, 0.07, 0.13) * iif(rest > 0, ramp(busy / rest, 2, 4), 1.0) as score, cpu, busy, rest,
       -- Some kernels count interrupts' time apart from that of threads (CONFIG_IRQ_TIME_ACCOUNTING), as what the
       -- hypervisor takes: there it is stolen.
       (select coalesce(sum(iif(metric = 'cpu.steal', 0.0, slow_rate)) / nullif(sum(slow_rate), 0), 0.0) from total
        where metric in ('cpu.steal', 'cpu.irq', 'cpu.softirq')) as taken,
       -- What is too much for an interrupt's end is left to a thread of the kernel, for which others wait: no longer
       -- than it runs. Those of all CPUs have one name, and the others have little to do.
       (select coalesce(sum(cpu_time * per_second), 0.0) / nullif((select sum(slow_threads) from state
            where state in ('runnable', 'neighbours')), 0)
        from w_process where side = 'slow' and comm = 'ksoftirqd') as left_over
from (select cpu, busy, (sum(busy) over () - busy) / nullif(count(*) over () - 1, 0) as rest from each
      order by busy desc limit 1)
where rest is not null
-- claims:
select cast(given.cpu as text) as subject, cell,
       case when state = 'stolen' then taken when state in ('runnable', 'neighbours')
            then min(1.0, left_over) * ramp(left_over, 0.03, 0.07) else 1.0 end as part
from budget, given where state in ('stolen', 'runnable', 'neighbours') or request = 'interrupt'
-- test claims: all on one CPU
-- w_cpu side=slow cpu=0
-- w_cpu side=slow cpu=1
-- w_interrupt_time side=slow cpu=1 kind=softirq time=0.4 per_second=1
-- w_interrupt_time side=slow cpu=0 kind=irq time=0.01 per_second=1
-- total metric=cpu.softirq slow_rate=0.4
-- budget* state=stolen slow=2
-- budget state=user slow=1 against=1
-- says 'CPU 1 spends'
-- test refuses: spread over all
-- w_cpu side=slow cpu=0
-- w_cpu side=slow cpu=1
-- w_interrupt_time side=slow cpu=1 kind=softirq time=0.2 per_second=1
-- w_interrupt_time side=slow cpu=0 kind=softirq time=0.2 per_second=1
-- total metric=cpu.softirq slow_rate=0.4
-- budget state=stolen slow=2
