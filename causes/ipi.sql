-- cause ipi: CPUs interrupt each other (IPIs)
-- layer: kernel
-- page: interrupts
-- needs: thread_time ipi
-- yields: explicit-gc mm-lock process-creation swap tlb-shootdown
-- says: {subject:fn} interrupts other CPUs: {slow_ipis} IPIs per unit of work (baseline {against_ipis})
-- evidence: sending IPIs and waiting for acknowledgement per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state ipis; grep -E 'CAL|RES' /proc/interrupts
-- try: call it less often (membarrier, timers on other CPUs, affinity changes, enabling and disabling perf events or
--   BPF programs)
-- see: kernel/smp.c
-- when:
select grown(sum(iif(side = 'slow', targets * per_unit, 0)), sum(iif(side = 'against', targets * per_unit, 0)), 1.3, 1.7)
           as score,
       sum(iif(side = 'slow', targets * per_unit, 0)) as slow_ipis,
       sum(iif(side = 'against', targets * per_unit, 0)) as against_ipis,
       (select sum(slow - against) from budget where state = 'user' and fresh = 0) as own_grew
from w_ipi where kind = 'call' and comm in (select distinct comm from budget) having count(*) > 0
-- claims:
with asked as materialized (
    select request, grown(sum(slow), sum(against), 1.3, 1.7) as score, sum(slow - against) as more from budget
    where has_role(roles, 'kernel.ipi') and not has_role(roles, 'kernel.tlb') and request is not null group by request
),
sent as materialized (
    select coalesce(b.request, 'the kernel') as subject, b.cell,
           iif(has_role(b.roles, 'kernel.ipi') and not has_role(b.roles, 'kernel.tlb'), 1.0, a.score) as part
    from budget b left join asked a on a.request = b.request
    where b.state in ('kernel', 'user', 'lock', 'other')
      and (has_role(b.roles, 'kernel.ipi') and not has_role(b.roles, 'kernel.tlb') or a.score > 0)
      and coalesce(call_group(b.request), '') <> 'map' and coalesce(b.request, '') not in ('page fault', 'mprotect')
)
select subject, cell, part from sent
union all
-- Those who are interrupted pay some 5 µs each in a virtual machine, which the kernel books as their own time; at most
-- what their code got slower by.
select (select request from asked order by more desc limit 1), cell,
       min(1.0, 5e-6 * max(slow_ipis - against_ipis, 0) / own_grew)
from budget, given
where state = 'user' and request is null and fresh = 0 and own_grew > 0 and exists (select 1 from sent)
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
