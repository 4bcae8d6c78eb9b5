-- cause nic-queue: one CPU handles most packets
-- layer: io
-- page: interrupts network
-- needs: thread_time softirqs cpu
-- yields: retransmits steal timers
-- says: CPU {subject} handles {part_of_all:ratio} of all received packets
-- evidence: packets received in softirqs there: {rate:1/s}
-- evidence: time interrupted and waiting per unit of work: {slow:s} (baseline {against:s})
-- check: grep NET_RX /proc/softirqs; mpstat -P ALL 1: %soft; ethtool -l IFACE
-- try: more queues (ethtool -L IFACE combined N), RPS (/sys/class/net/IFACE/queues/rx-0/rps_cpus), irqbalance
-- see: Documentation/networking/scaling.rst
-- when:
with each as materialized (
    select cpu, sum(count * per_second) as rate from w_softirqs where kind = 'NET_RX' and side = 'slow' group by cpu
),
one as materialized (
    select cpu, rate, rate / sum(rate) over () as share, count(*) over () as cpus from each order by rate desc limit 1
)
select (o.cpus > 1) * ramp(o.rate, 15000, 25000) * ramp(o.share, 0.7, 0.9)
       * ramp((select mean(softirq, seconds) from w_cpu where side = 'slow' and cpu = o.cpu), 0.5, 0.7) as score,
       o.cpu, o.rate, o.share as part_of_all
from one o
-- claims:
select cast(given.cpu as text) as subject, cell, 1.0 as part from budget, given where state in ('stolen', 'network')
-- test claims: one queue
-- w_softirqs side=slow kind=NET_RX cpu=0 count=50000 per_second=1
-- w_softirqs side=slow kind=NET_RX cpu=1 count=100 per_second=1
-- w_cpu side=slow cpu=0 seconds=1 softirq=0.9
-- w_cpu side=slow cpu=1 seconds=1 softirq=0.1
-- budget* state=network slow=3
-- budget state=user slow=1 against=1
-- says 'CPU 0 handles'
-- test refuses: a queue a CPU
-- w_softirqs side=slow kind=NET_RX cpu=0 count=25000 per_second=1
-- w_softirqs side=slow kind=NET_RX cpu=1 count=25000 per_second=1
-- w_cpu side=slow cpu=0 seconds=1 softirq=0.9
-- w_cpu side=slow cpu=1 seconds=1 softirq=0.9
-- budget state=network slow=3
