-- cause mm-lock: threads wait for the lock of the address space
-- layer: kernel
-- needs: thread_time
-- specific: 8
-- says: threads of one process wait for the lock of its address space (mmap_lock), asked for by {asked}
-- evidence: waited per unit of work: {slow:s}, against {against:s}
-- evidence: page faults per unit of work: {slow_faults}, against {against_faults}
-- check: twinscope flame SLOW.twin --state lock: below mmap, munmap, mprotect, madvise or a page fault
-- try: map, unmap and protect less often and in larger pieces: pools, MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, jemalloc or tcmalloc with retained pages
-- try: processes instead of threads where threads share little
-- experiment: environment MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_
-- see: Documentation/mm/process_addrs.rst
with faults as (select max(slow) as slow_faults, max(against) as against_faults from total where metric = 'process.minor_faults'),
spent as (
    -- Where those who wait spend more CPU time on changing the mappings themselves, that is the cause, and the lock follows from it.
    select coalesce(sum(share), 0) as grown from budget where state = 'kernel' and thread in (select thread from thread_group where slow_lock - against_lock > 0.3 * (select max(slow_lock - against_lock) from thread_group)) and request in ('page fault', 'mmap', 'munmap', 'mprotect', 'madvise', 'brk', 'mremap') and path not like '%;rwsem_down%'
),
cells as materialized (
    select cell, slow, against, share, coalesce(request, 'other code') as request
    from budget
    where (state = 'lock' and (coalesce(lock, 'kernel rwsem') like 'kernel rwsem%') or state = 'kernel' and path like '%;rwsem_down%')
      and (request in ('page fault', 'mmap', 'munmap', 'mprotect', 'madvise', 'brk', 'mremap', 'mlock', 'membarrier', 'process_madvise') or path like '%mmap_lock%' or path like '%lock_mm_and_find_vma%'
           or path like '%vm_mmap_pgoff%' or path like '%vm_munmap%')
)
select 'mmap_lock' as subject, cell, 1.0 as part, sum(slow) over () as slow, sum(against) over () as against, slow_faults, against_faults,
       (select group_concat(request, ', ') from (select request from cells group by request order by sum(share) desc limit 3)) as asked
from cells, faults, spent where (select sum(share) from cells) > spent.grown
