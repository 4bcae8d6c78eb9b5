-- cause numa: remote NUMA memory is allocated
-- layer: code
-- page: memory
-- needs: thread_time numastat
-- yields: all
-- says: {slow_remote:1/s} pages allocated on a remote NUMA node (baseline {against_remote:1/s})
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: numastat -p PID; perf c2c; twinscope doctor --only memory
-- try: numactl --cpunodebind --membind, or one process per node; kernel.numa_balancing
-- experiment: setting /proc/sys/kernel/numa_balancing: 0 1
-- see: numa(7)
-- when:
select ramp(max(slow_rate), 700, 1300) * grown(max(slow_rate), max(against_rate), 1.5, 2.5) as score,
       max(slow_rate) as slow_remote, max(coalesce(against_rate, 0)) as against_remote
from total where metric in ('vmstat.numa_hint_faults', 'vmstat.numa_pages_migrated') having count(*) > 0
-- claims:
select 'NUMA' as subject, cell, 1.0 as part from budget where has_role(roles, 'kernel.numa')
-- test claims: pages move between nodes
-- total metric=vmstat.numa_hint_faults slow_rate=50000 against_rate=0
-- budget* state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
-- budget state=kernel path=;main;read; slow=1
-- test refuses: few do
-- total metric=vmstat.numa_hint_faults slow_rate=100 against_rate=0
-- budget state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
