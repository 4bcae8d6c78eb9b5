-- cause mm-lock: threads contend for the mmap lock
-- layer: kernel
-- page: locks memory
-- needs: thread_time
-- says: threads of one process contend for the lock of its address space (mmap_lock), taken for {asked}
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: page faults per unit of work: {slow_faults} (baseline {against_faults})
-- check: twinscope flame SLOW.twin --state lock: below mmap, munmap, mprotect, madvise or a page fault
-- try: map, unmap and protect less often and in larger pieces: pools
-- try: for {glibc}: MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, or jemalloc or tcmalloc with retained pages
-- try: processes instead of threads if threads share little
-- experiment: env MALLOC_ARENA_MAX: 1 2 8
-- experiment: env MALLOC_TRIM_THRESHOLD_: 131072 1073741824
-- experiment: env MALLOC_TOP_PAD_: 131072 67108864
-- see: Documentation/mm/process_addrs.rst
-- claims:
with
waiting as materialized (
    select thread from thread_group
    where slow_lock - against_lock > 0.3 * (select max(slow_lock - against_lock) from thread_group)
),
-- What those who wait spend on changing the mappings themselves.
own as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against
    from budget
    where state = 'kernel' and thread in (select thread from waiting) and path not glob '*;rwsem_down*'
      and (call_group(request) = 'map' or request in ('page fault', 'mprotect'))
),
waits as materialized (
    select cell, slow, against from budget
    where (state = 'lock' and coalesce(lock, 'kernel rwsem') glob 'kernel rwsem*'
           or state = 'kernel' and path glob '*;rwsem_down*')
      and (call_group(request) = 'map' or request in ('page fault', 'mprotect', 'membarrier')
           or path glob '*;mmap_*lock*' or path glob '*;lock_mm_and_find_vma;*' or path glob '*;vm_mmap_pgoff;*'
           or path glob '*;*vm_munmap;*')
),
-- Where those who wait ask for more changes than before, they wait because they ask: that part of the wait belongs to
-- whatever makes them ask. It counts in full once they spend a quarter as much more on the changes themselves as on
-- waiting.
asked_more as (
    select max(0.0, 1 - own.against / max(own.slow, 1e-12))
           * min(1.0, max(0.0, own.slow - own.against)
                      / max(0.25 * (select sum(slow - against) from waits), 1e-12)) as part
    from own
)
select 'mmap_lock' as subject, cell, 1 - asked_more.part as part from waits, asked_more
-- tells:
select (select max(slow) from total where metric = 'process.minor_faults') as slow_faults,
       (select max(against) from total where metric = 'process.minor_faults') as against_faults,
       (select group_concat(request, ', ')
        from (select coalesce(b.request, 'other code') as request from claimed c join budget b on b.cell = c.cell
              group by 1 order by sum(b.share) desc limit 3)) as asked,
       -- The heap of a JVM is not glibc's, nor is that of Go.
       (select iif(sum(iif(b.comm in (select j.comm from budget j where j.module = '[jit]'
                                      or j.module glob '*libjvm.so*'), b.slow, 0)) < 0.5 * sum(b.slow)
                   and not exists (select 1 from goroutine_use), 'glibc', null)
        from claimed c join budget b on b.cell = c.cell) as glibc
-- test claims: page faults wait for another thread
-- budget* state=lock lock='kernel rwsem (write)' request='page fault' slow=5 against=0.5
-- budget state=lock lock='pthread mutex 0x10' slow=1
-- total metric=process.minor_faults slow=10 against=10
-- says 'threads of one process contend for the lock of its address space (mmap_lock), taken for'
-- says 'for glibc: MALLOC_'
-- test claims: of a JVM
-- budget* state=lock comm=java lock='kernel rwsem (write)' request='page fault' slow=5 against=0.5
-- budget state=user comm=java module=[jit] slow=1
-- silent MALLOC_
-- test refuses: those who wait ask for as much more themselves
-- budget state=lock lock='kernel rwsem (write)' request='page fault' slow=2
-- budget state=kernel request='page fault' path=;main;asm_exc_page_fault; slow=5
-- total metric=process.minor_faults slow=100 against=10
