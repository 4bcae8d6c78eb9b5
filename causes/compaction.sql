-- cause compaction: threads wait while memory is compacted for huge pages
-- layer: kernel
-- page: memory
-- needs: thread_time vmstat
-- specific: 7
-- says: direct compaction: {slow_stalls:1/s} allocations of huge pages stall (baseline {against_stalls:1/s})
-- evidence: time in compaction per unit of work: {slow:s} (baseline {against:s})
-- check: grep compact_ /proc/vmstat; cat /sys/kernel/mm/transparent_hugepage/defrag
-- try: echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag, or huge pages reserved at boot
--   (vm.nr_hugepages)
-- experiment: /sys/kernel/mm/transparent_hugepage/defrag
-- see: Documentation/admin-guide/mm/transhuge.rst
with stalls as materialized (select slow_rate as slow_stalls, coalesce(against_rate, 0) as against_stalls from total
    where metric = 'vmstat.compact_stall' and slow_rate > 1)
select 'huge pages' as subject, b.cell, 1.0 as part, s.slow_stalls, s.against_stalls, sum(b.slow) over () as slow,
    sum(b.against) over () as against
from budget b, stalls s where b.path glob '*compact_zone*' or b.path glob '*try_to_compact_pages*'
    or b.path glob '*;migrate_pages*'
-- test claims: huge pages are put together
-- total metric=vmstat.compact_stall slow_rate=50
-- budget* state=kernel path=;main;alloc;try_to_compact_pages;compact_zone; slow=2
-- budget state=kernel path=;main;alloc;clear_page; slow=2
-- test refuses: next to no stalls
-- total metric=vmstat.compact_stall slow_rate=0.5
-- budget state=kernel path=;main;alloc;try_to_compact_pages;compact_zone; slow=2
