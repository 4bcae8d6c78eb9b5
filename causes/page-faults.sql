-- cause page-faults: memory is repeatedly unmapped and faulted in again
-- layer: kernel
-- page: memory profiles
-- needs: thread_time
-- yields: explicit-gc mm-lock process-creation swap tlb-shootdown
-- says: {slow_faults} page faults per unit of work (baseline {against_faults})[[, mostly in {top:fn}]]: memory is
--   unmapped and faulted in again and again
-- evidence: page faults and unmapping per unit of work: {slow:s} (baseline {against:s})
-- evidence: most time in page faults is below {top:fn}
-- check: twinscope flame SLOW.twin --state faults; perf stat -e minor-faults
-- try: keep memory instead of returning it: a pool
-- try: for {glibc}: MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TOP_PAD_=67108864; larger pages by
--   GLIBC_TUNABLES=glibc.malloc.hugetlb=1
-- try: for {jvm}: a heap that does not shrink and grow again (-Xms as large as -Xmx), touched at the start
--   (-XX:+AlwaysPreTouch); -XX:+UseTransparentHugePages
-- try: larger pages: THP (madvise(MADV_HUGEPAGE)), MAP_POPULATE for what will be used anyway
-- try: of files: open and map them once, and keep the mapping
-- experiment: env MALLOC_TRIM_THRESHOLD_: 131072 1073741824
-- experiment: env MALLOC_TOP_PAD_: 131072 67108864
-- experiment: setting /sys/kernel/mm/transparent_hugepage/enabled: x1 always
-- see: mallopt(3), madvise(2)
-- when:
select grown(slow, against, 1.3, 1.7) * ramp(slow_rate, 700, 1300) as score, slow as slow_faults,
       against as against_faults
from total where metric = 'process.minor_faults'
-- claims:
select 'page faults' as subject, cell, 1.0 as part from budget
where state in ('kernel', 'lock') and (request = 'page fault' or call_group(request) = 'map'
                                       or has_role(roles, 'kernel.fault'))
      and not has_role(roles, 'kernel.page-cache', 'kernel.swap', 'kernel.reclaim')
      and coalesce(lock, 'kernel rwsem') glob 'kernel rwsem*'
   or state = 'user' and call_group(request) = 'map'
-- tells:
with
-- Whose memory it is: a JVM's heap is not glibc's, nor is that of Go.
jvm as materialized (select distinct comm from budget where module = '[jit]' or module glob '*libjvm.so*'),
of as materialized (
    select sum(iif(b.comm in (select comm from jvm), b.slow, 0)) as jvm, sum(b.slow) as whole
    from claimed c join budget b on b.cell = c.cell
)
select (select b.caller from claimed c join budget b on b.cell = c.cell where b.caller is not null
        group by b.caller order by sum(b.slow - b.against) desc limit 1) as top,
       iif(of.jvm > 0.5 * of.whole, 'a JVM', null) as jvm,
       iif(of.jvm < 0.5 * of.whole and not exists (select 1 from goroutine_use), 'glibc', null) as glibc
from of
-- test claims: memory that is given back
-- total metric=process.minor_faults slow=100 against=2 slow_rate=50000
-- budget* state=kernel request='page fault' caller=work slow=4
-- budget state=user slow=1 against=1
-- says '100 page faults per operation (baseline 2), mostly in `work()`: memory is unmapped and'
-- says 'for glibc: MALLOC_TRIM_THRESHOLD_'
-- silent 'for a JVM'
-- test claims: the heap of a JVM
-- total metric=process.minor_faults slow=100 against=2 slow_rate=50000
-- budget* state=kernel comm=java request='page fault' slow=4
-- budget state=user comm=java module=[jit] slow=1 against=1
-- says 'for a JVM: a heap that does not shrink'
-- silent MALLOC_
-- test refuses: what is read back was swapped out
-- total metric=process.minor_faults slow=100 against=2 slow_rate=50000
-- budget state=kernel request='page fault' path=;main;asm_exc_page_fault;do_swap_page; slow=4
-- test refuses: as many faults
-- total metric=process.minor_faults slow=2.2 against=2 slow_rate=50000
-- budget state=kernel request='page fault' slow=4
