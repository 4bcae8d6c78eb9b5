-- cause memory-reclaim: direct reclaim: allocations stall while threads free memory
-- layer: kernel
-- page: memory
-- needs: thread_time vmstat
-- specific: 6
-- says: direct reclaim: threads scan {slow_scan:1/s} pages to free memory before they get any (baseline
--   {against_scan:1/s})
-- evidence: time in reclaim per unit of work: {slow:s} (baseline {against:s})
-- check: sar -B 1: pgscand/s; vmstat 1; cat /proc/pressure/memory
-- try: leave memory free: smaller heaps and caches, higher vm.min_free_kbytes or vm.watermark_scale_factor so that
--   kswapd starts earlier
-- see: Documentation/admin-guide/sysctl/vm.rst
with scans as materialized (select slow_rate as slow_scan, coalesce(against_rate, 0) as against_scan from total
    where metric = 'vmstat.pgscan_direct' and slow_rate > 1000 and slow > 1.5 * coalesce(against, 0))
select 'direct reclaim' as subject, b.cell, 1.0 as part, s.slow_scan, s.against_scan, sum(b.slow) over () as slow,
    sum(b.against) over () as against
from budget b, scans s
where b.path glob '*;try_to_free_pages;*' or b.path glob '*;__alloc_pages_direct_reclaim;*'
    or b.path glob '*;__perform_reclaim;*' or b.path glob '*;shrink_*' or b.path glob '*;throttle_direct_reclaim;*'
-- test claims: threads look for memory themselves
-- total metric=vmstat.pgscan_direct slow=1e5 against=0 slow_rate=1e5
-- budget* state=kernel path=;main;alloc;try_to_free_pages;shrink_node; slow=3
-- budget state=kernel path=;main;read; slow=1
-- test refuses: hardly any
-- total metric=vmstat.pgscan_direct slow=10 against=0 slow_rate=10
-- budget state=kernel path=;main;alloc;try_to_free_pages;shrink_node; slow=3
