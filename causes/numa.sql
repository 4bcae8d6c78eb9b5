-- cause numa: remote NUMA memory is allocated
-- layer: code
-- page: memory
-- needs: thread_time numastat
-- specific: 3
-- says: {slow_remote:1/s} pages allocated on a remote NUMA node (baseline {against_remote:1/s})
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: numastat -p PID; perf c2c; twinscope doctor --only memory
-- try: numactl --cpunodebind --membind, or one process per node; kernel.numa_balancing
-- see: numa(7)
with remote as materialized (
    select max(slow_rate) as slow_remote, max(coalesce(against_rate, 0)) as against_remote from total
        where metric in ('vmstat.numa_hint_faults', 'vmstat.numa_pages_migrated')
)
select 'NUMA' as subject, b.cell, 1.0 as part, r.slow_remote, r.against_remote, sum(b.slow) over () as slow,
    sum(b.against) over () as against
from budget b, remote r where r.slow_remote > 1000 and r.slow_remote > 2 * r.against_remote
    and b.path glob '*do_numa_page*'
-- test claims: pages move between nodes
-- total metric=vmstat.numa_hint_faults slow_rate=50000 against_rate=0
-- budget* state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
-- budget state=kernel path=;main;read; slow=1
-- test refuses: few do
-- total metric=vmstat.numa_hint_faults slow_rate=100 against_rate=0
-- budget state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
