-- cause nic-queue: one CPU handles most packets
-- layer: io
-- page: interrupts network
-- needs: thread_time softirqs cpu
-- specific: 5
-- says: CPU {subject} handles {share:ratio} of all received packets
-- evidence: packets received in softirqs there: {rate:1/s}
-- evidence: time interrupted and waiting per unit of work: {slow:s} (baseline {against:s})
-- check: grep NET_RX /proc/softirqs; mpstat -P ALL 1: %soft; ethtool -l IFACE
-- try: more queues (ethtool -L IFACE combined N), RPS (/sys/class/net/IFACE/queues/rx-0/rps_cpus), irqbalance
-- see: Documentation/networking/scaling.rst
with each as materialized (
    select side, cpu, sum(count * per_second) as rate from w_softirqs where kind = 'NET_RX' group by side, cpu
),
one as materialized (
    select cpu, rate, rate / sum(rate) over () as share, count(*) over () as cpus from each where side = 'slow'
        order by rate desc limit 1
),
softirq as materialized (select cpu, sum(softirq * seconds) / sum(seconds) as busy from w_cpu where side = 'slow'
    group by cpu)
select cast(o.cpu as text) as subject, b.cell, 1.0 as part, o.rate, o.share, sum(b.slow) over () as slow,
    sum(b.against) over () as against
from budget b, one o join softirq q on q.cpu = o.cpu
where o.cpus > 1 and o.rate > 20000 and o.share > 0.8 and q.busy > 0.6 and b.state in ('stolen', 'network')
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
