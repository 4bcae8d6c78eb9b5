-- cause memory-reclaim: direct reclaim: allocations stall while threads free memory
-- layer: kernel
-- page: memory
-- needs: thread_time vmstat
-- yields: compaction heap-size ipi memory-limit page-faults slow-clock thundering-herd
-- says: direct reclaim: threads scan {slow_scan:1/s} pages to free memory before they get any (baseline
--   {against_scan:1/s})
-- evidence: time in reclaim per unit of work: {slow:s} (baseline {against:s})
-- check: sar -B 1: pgscand/s; vmstat 1; cat /proc/pressure/memory
-- try: leave memory free: smaller heaps and caches, higher vm.min_free_kbytes or vm.watermark_scale_factor so that
--   kswapd starts earlier
-- experiment: setting /proc/sys/vm/watermark_scale_factor: x1 x10
-- see: Documentation/admin-guide/sysctl/vm.rst
-- when:
select ramp(slow_rate, 700, 1300) * grown(slow, against, 1.3, 1.7) as score, slow_rate as slow_scan,
       coalesce(against_rate, 0) as against_scan
from total where metric = 'vmstat.pgscan_direct'
-- claims:
select 'direct reclaim' as subject, cell, 1.0 as part from budget where has_role(roles, 'kernel.reclaim')
-- test claims: threads look for memory themselves
-- total metric=vmstat.pgscan_direct slow=1e5 against=0 slow_rate=1e5
-- budget* state=kernel path=;main;alloc;try_to_free_pages;shrink_node; slow=3
-- budget state=kernel path=;main;read; slow=1
-- test refuses: hardly any
-- total metric=vmstat.pgscan_direct slow=10 against=0 slow_rate=10
-- budget state=kernel path=;main;alloc;try_to_free_pages;shrink_node; slow=3
