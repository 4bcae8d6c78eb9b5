-- cause tlb-shootdown: TLB shootdowns: CPUs interrupt each other to flush stale mappings
-- layer: kernel
-- page: interrupts memory
-- needs: thread_time ipi
-- says: {subject:fn} causes TLB shootdowns: {slow_ipis} IPIs per unit of work (baseline {against_ipis})
-- evidence: sending IPIs and waiting for acknowledgement per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state ipis; grep TLB /proc/interrupts
-- try: change mappings less often and in larger pieces: mprotect, munmap, madvise and mremap on memory shared by
--   threads
-- try: garbage collectors and sandboxes: batch protection changes; processes instead of threads
-- see: arch/x86/mm/tlb.c
-- when:
with ipis as materialized (
    select sum(iif(side = 'slow', targets * per_unit, 0)) as slow,
           sum(iif(side = 'against', targets * per_unit, 0)) as against
    from w_ipi where kind = 'tlb' and comm in (select distinct comm from budget) having count(*) > 0
)
select grown(slow, against, 1.3, 1.7) as score, slow as slow_ipis, against as against_ipis,
       (select sum(slow - against) from budget where state = 'user' and fresh = 0) as own_grew,
       -- Where page faults grew as well, memory comes and goes: what unmaps is not there to flush.
       (select coalesce(max(grown(slow, against, 1.3, 1.7) * ramp(slow_rate, 700, 1300)), 0) from total
        where metric = 'process.minor_faults') as faults
from ipis
-- claims:
with asked as materialized (
    select request from budget
    where (has_role(roles, 'kernel.tlb') or request = 'mprotect' or call_group(request) = 'map') and request is not null
    group by request order by sum(slow - against) desc limit 1
)
select coalesce((select request from asked), 'the kernel') as subject, cell,
       case
           -- To change a protection is to flush; so are calls without page faults beside them.
           when has_role(roles, 'kernel.tlb') or request in ('mprotect', 'pkey_mprotect') then 1.0
           when request in ('munmap', 'madvise', 'mremap') then 1 - faults
           -- After a flush each page costs a walk of the tables again: some 2 µs until the working set is back, after
           -- 5 µs for the interrupt in a virtual machine, which the kernel books as the program's own time; at most
           -- what the threads' own code got slower by.
           when state = 'user' and request is null and fresh = 0 and own_grew > 0
               then min(1.0, 7e-6 * max(slow_ipis - against_ipis, 0) / own_grew)
           else 0.0 end as part
from budget, given where state in ('kernel', 'user', 'stolen', 'lock')
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
