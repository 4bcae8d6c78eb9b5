-- cause page-faults: memory is repeatedly unmapped and faulted in again
-- layer: kernel
-- page: memory profiles
-- needs: thread_time
-- specific: 7
-- says: {slow_faults} page faults per unit of work (baseline {against_faults})[[, mostly in {top:fn}]]: memory is
--   unmapped and faulted in again and again
-- evidence: page faults and unmapping per unit of work: {slow:s} (baseline {against:s})
-- evidence: most time in page faults is below {top:fn}
-- check: twinscope flame SLOW.twin --state faults; perf stat -e minor-faults
-- try: keep memory instead of returning it: a pool, or for glibc MALLOC_TRIM_THRESHOLD_=-1
--   MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TOP_PAD_=67108864
-- try: larger pages: THP (madvise(MADV_HUGEPAGE), GLIBC_TUNABLES=glibc.malloc.hugetlb=1), MAP_POPULATE for what will be
--   used anyway
-- experiment: environment MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_; /sys/kernel/mm/transparent_hugepage/enabled
-- see: mallopt(3), madvise(2)
with faults as materialized (
    select slow as slow_faults, against as against_faults from total where metric = 'process.minor_faults'
        and slow > 1.5 * coalesce(against, 0) and slow_rate > 1000
),
cells as materialized (
    select cell, slow, against, caller from budget
    where (state in ('kernel', 'lock') and (request in ('page fault', 'munmap', 'madvise', 'mmap', 'brk', 'mremap')
        or path glob '*;asm_exc_page_fault;*') and path not glob '*filemap*'
           and path not glob '*swap*' and path not glob '*try_to_free*'
               and coalesce(lock, 'kernel rwsem') glob 'kernel rwsem*'
           -- A collector's are the collector's.
           and coalesce(thread, '') not glob 'GC Thread#*' and coalesce(thread, '') not glob 'G# *')
       or (state = 'user' and request in ('munmap', 'madvise', 'mmap', 'brk', 'mremap'))
),
top as (select caller from cells where caller is not null group by caller order by sum(slow - against) desc limit 1)
select 'page faults' as subject, cell, 1.0 as part, slow_faults, against_faults, sum(slow) over () as slow,
    sum(against) over () as against,
    (select caller from top) as top
from cells, faults
-- test claims: memory that is given back
-- total metric=process.minor_faults slow=100 against=2 slow_rate=50000
-- budget* state=kernel request='page fault' caller=work slow=4
-- budget state=kernel request='page fault' thread='GC Thread#' slow=2
-- budget state=user slow=1 against=1
-- says '100 page faults per operation (baseline 2), mostly in `work()`: memory is unmapped and'
-- test refuses: what is read back was swapped out
-- total metric=process.minor_faults slow=100 against=2 slow_rate=50000
-- budget state=kernel request='page fault' path=;main;asm_exc_page_fault;do_swap_page; slow=4
-- test refuses: as many faults
-- total metric=process.minor_faults slow=2.2 against=2 slow_rate=50000
-- budget state=kernel request='page fault' slow=4
