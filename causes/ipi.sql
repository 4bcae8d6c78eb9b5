-- cause ipi: CPUs interrupt each other (IPIs)
-- layer: kernel
-- page: interrupts
-- needs: thread_time ipi
-- specific: 7
-- says: {subject:fn} interrupts other CPUs: {slow_ipis} IPIs per unit of work (baseline {against_ipis})
-- evidence: sending IPIs and waiting for acknowledgement per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state ipis; grep -E 'CAL|RES' /proc/interrupts
-- try: call it less often (membarrier, timers on other CPUs, affinity changes, enabling and disabling perf events or
--   BPF programs)
-- see: kernel/smp.c
with ipis as materialized (
    select sum(iif(side = 'slow', targets * per_unit, 0)) as slow_ipis,
        sum(iif(side = 'against', targets * per_unit, 0)) as against_ipis
    from w_ipi where kind = 'call' and comm in (select distinct comm from budget)
),
asked as materialized (
    select request from budget where path glob '*;smp_call_function*' and path not glob '*tlb*' and request is not null
    group by request having sum(slow) > 1.5 * sum(against)
),
cells as materialized (
    select b.cell, b.slow, b.against, coalesce(b.request, 'the kernel') as subject
    from budget b, ipis
    where slow_ipis > 1.5 * against_ipis and b.state in ('kernel', 'user', 'lock', 'other')
      and ((b.path glob '*;smp_call_function*' and b.path not glob '*tlb*') or b.request in (select request from asked))
      and coalesce(b.request, '') not in ('page fault', 'munmap', 'mmap', 'madvise', 'mprotect', 'brk')
),
-- Those who are interrupted pay some 5 µs each in a virtual machine, which the kernel books as their own time; at most
-- what their code got slower by.
interrupted as materialized (
    select min(1.0, 5e-6 * max(slow_ipis - against_ipis, 0) / nullif((select sum(slow - against) from budget
        where state = 'user' and fresh = 0), 0)) as part from ipis where slow_ipis > 1.5 * against_ipis
),
all_cells as materialized (
    select subject, cell, slow, against, 1.0 as part from cells
    union all select (select subject from cells group by subject order by sum(slow - against) desc limit 1), cell,
        slow, against, part from budget, interrupted
    where state = 'user' and request is null and fresh = 0 and part > 0 and exists (select 1 from cells)
        and cell not in (select cell from cells)
)
select subject, cell, part, slow_ipis, against_ipis, sum(slow) over (partition by subject) as slow,
    sum(against) over (partition by subject) as against
from all_cells, ipis
-- test claims: a fence of all CPUs
-- w_ipi side=slow kind=call comm=app targets=1000 per_unit=1
-- w_ipi side=against kind=call comm=app targets=10 per_unit=1
-- budget* state=kernel request=membarrier path=;main;membarrier;smp_call_function_many_cond; slow=2
-- budget* state=user slow=5 against=1
-- budget state=lock slow=1
-- says '`membarrier()` interrupts other CPUs: 1 k IPIs per operation (baseline 10)'
-- test refuses: as many interrupts
-- w_ipi side=slow kind=call comm=app targets=10 per_unit=1
-- w_ipi side=against kind=call comm=app targets=10 per_unit=1
-- budget state=kernel request=membarrier path=;main;membarrier;smp_call_function_many_cond; slow=2
-- test refuses: another program sends them
-- w_ipi side=slow kind=call comm=other targets=1000 per_unit=1
-- budget state=kernel request=membarrier path=;main;membarrier;smp_call_function_many_cond; slow=2
