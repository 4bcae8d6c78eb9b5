-- cause tlb-shootdown: TLB shootdowns: CPUs interrupt each other to flush stale mappings
-- layer: kernel
-- page: interrupts memory
-- needs: thread_time ipi
-- specific: 8
-- says: {subject:fn} causes TLB shootdowns: {slow_ipis} IPIs per unit of work (baseline {against_ipis})
-- evidence: sending IPIs and waiting for acknowledgement per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state ipis; grep TLB /proc/interrupts
-- try: change mappings less often and in larger pieces: mprotect, munmap, madvise and mremap on memory shared by
--   threads
-- try: garbage collectors and sandboxes: batch protection changes; processes instead of threads
-- see: arch/x86/mm/tlb.c
with ipis as materialized (
    select sum(iif(side = 'slow', targets * per_unit, 0)) as slow_ipis,
        sum(iif(side = 'against', targets * per_unit, 0)) as against_ipis
    from w_ipi where kind = 'tlb' and comm in (select distinct comm from budget)
),
faults as (select max(iif(slow > 1.5 * coalesce(against, 0) and slow_rate > 1000, 1, 0)) as more from total
    where metric = 'process.minor_faults'),
top as materialized (
    select request from budget where (path glob '*;flush_tlb*' or request in ('mprotect', 'munmap', 'madvise',
        'mremap')) and request is not null group by request order by sum(slow - against) desc limit 1
),
-- After a flush each page costs a walk of the tables again: some 2 µs until the working set is back, after 5 µs for the
-- interrupt in a virtual machine, which the kernel books as the program's own time; at most what the threads' own code
-- got slower by.
walks as materialized (
    select min(1.0, 7e-6 * max(slow_ipis - against_ipis, 0) / nullif((select sum(slow - against) from budget
        where state = 'user' and fresh = 0), 0)) as part from ipis
),
cells as materialized (
    select b.cell, b.slow, b.against, coalesce((select request from top), 'the kernel') as subject,
        iif(b.state = 'user' and b.request is null, w.part, 1.0) as part
    from budget b, ipis, faults left join walks w
    where slow_ipis > 1.5 * against_ipis and b.state in ('kernel', 'user', 'stolen', 'lock')
      and (b.path glob '*;flush_tlb*' or b.path glob '*tlb_flush*' or b.path glob '*;tlb_finish_mmu;*smp_call*'
          or b.path glob '*;arch_tlbbatch_flush;*'
           -- To change a protection is to flush; so are calls without page faults beside them.
           or b.request in ('mprotect', 'pkey_mprotect')
               or (coalesce(faults.more, 0) = 0 and b.request in ('munmap', 'madvise', 'mremap'))
           or (b.state = 'user' and b.request is null and b.fresh = 0 and w.part > 0))
)
select subject, cell, part, slow_ipis, against_ipis, sum(slow) over (partition by subject) as slow,
    sum(against) over (partition by subject) as against
from cells, ipis
-- test claims: protections that change all the time
-- w_ipi side=slow kind=tlb comm=app targets=1000 per_unit=1
-- w_ipi side=against kind=tlb comm=app targets=10 per_unit=1
-- budget* state=kernel request=mprotect slow=2
-- budget* state=user slow=3 against=1
-- budget state=disk slow=1
-- says '`mprotect()` causes TLB shootdowns: 1 k IPIs per operation (baseline 10)'
-- test refuses: as many
-- w_ipi side=slow kind=tlb comm=app targets=10 per_unit=1
-- w_ipi side=against kind=tlb comm=app targets=10 per_unit=1
-- budget state=kernel request=mprotect slow=2
