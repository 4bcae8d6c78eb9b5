-- cause compaction: threads wait while memory is compacted for huge pages
-- layer: kernel
-- page: memory
-- needs: thread_time vmstat
-- yields: explicit-gc mm-lock process-creation swap tlb-shootdown
-- says: direct compaction: {slow_stalls:1/s} allocations of huge pages stall (baseline {against_stalls:1/s})
-- evidence: time in compaction per unit of work: {slow:s} (baseline {against:s})
-- check: grep compact_ /proc/vmstat; cat /sys/kernel/mm/transparent_hugepage/defrag
-- try: echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag, or huge pages reserved at boot
--   (vm.nr_hugepages)
-- experiment: setting /sys/kernel/mm/transparent_hugepage/defrag: madvise defer+madvise never
-- see: Documentation/admin-guide/mm/transhuge.rst
-- when:
select ramp(slow_rate, 0.5, 1.5) as score, slow_rate as slow_stalls, coalesce(against_rate, 0) as against_stalls
from total where metric = 'vmstat.compact_stall'
-- claims:
select 'huge pages' as subject, cell, 1.0 as part from budget where has_role(roles, 'kernel.compact')
-- test claims: huge pages are put together
-- total metric=vmstat.compact_stall slow_rate=50
-- budget* state=kernel path=;main;alloc;try_to_compact_pages;compact_zone; slow=2
-- budget state=kernel path=;main;alloc;clear_page; slow=2
-- test refuses: next to no stalls
-- total metric=vmstat.compact_stall slow_rate=0.5
-- budget state=kernel path=;main;alloc;try_to_compact_pages;compact_zone; slow=2
