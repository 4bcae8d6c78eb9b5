-- cause numa: remote NUMA memory is used
-- layer: code
-- page: memory counters
-- needs: thread_time numastat|pmu
-- yields: all
-- says: memory of another NUMA node is used more[[: {slow_remote:1/s} pages allocated or moved there (baseline
--   {against_remote:1/s})]][[: {slow_lines} lines in 1,000 instructions come from it (baseline {against_lines})]]
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- evidence: counted: {title}; estimated: each takes {each} cycles longer than one of the own node
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI)
-- check: numastat -p PID; perf c2c; twinscope doctor --only memory
-- try: numactl --cpunodebind --membind, or one process per node; kernel.numa_balancing
-- experiment: setting /proc/sys/kernel/numa_balancing: 0 1
-- see: numa(7)
-- when:
with moved as (
    select ramp(max(slow_rate), 700, 1300) * grown(max(slow_rate), max(against_rate), 1.5, 2.5) as score,
           max(slow_rate) as slow_remote, max(coalesce(against_rate, 0)) as against_remote
    from total where metric in ('vmstat.numa_hint_faults', 'vmstat.numa_pages_migrated') having count(*) > 0
),
far as (
    select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, more, slow as slow_lines,
           against as against_lines, title, each, round(100 * more) as more_part, round(100 * more_low) as more_low,
           round(100 * more_high) as more_high
    from counted where class = 'remote' and more > 0
)
select max(coalesce(m.score, 0), coalesce(f.score, 0)) as score, coalesce(m.score, 0) as moved,
       coalesce(f.score, 0) as far, f.more, iif(m.score > 0, m.slow_remote, null) as slow_remote,
       iif(m.score > 0, m.against_remote, null) as against_remote, iif(f.score > 0, f.slow_lines, null) as slow_lines,
       iif(f.score > 0, f.against_lines, null) as against_lines, iif(f.score > 0, f.title, null) as title, f.each,
       iif(f.score > 0, f.more_part, null) as more_part, f.more_low, f.more_high
from (select 1) left join moved m on 1 left join far f on 1
-- claims:
-- The kernel's work on pages that move, and what instructions take longer for lines from far away.
select 'NUMA' as subject, b.cell,
       max(iif(has_role(b.roles, 'kernel.numa'), g.moved, 0) / g.score,
           iif(b.state in ('user', 'kernel') and b.slow > b.against and g.far > 0,
               min(1.0, g.more * b.slow / (b.slow - b.against)) * g.far, 0) / g.score) as part
from budget b, given g
where has_role(b.roles, 'kernel.numa') and g.moved > 0
   or b.state in ('user', 'kernel') and b.slow > b.against and g.far > 0
-- test claims: pages move between nodes
-- total metric=vmstat.numa_hint_faults slow_rate=50000 against_rate=0
-- budget* state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
-- budget state=kernel path=;main;read; slow=1
-- says 'more: 50 k/s pages allocated or moved there (baseline 0/s)'
-- test claims: lines come from another node
-- counted class=remote title=lines slow=5 against=1 each=100 slow_cpi=1.5 against_cpi=1.1 more=0.27 more_low=0.2 more_high=0.3
-- budget* state=user slow=3 against=2
-- budget state=lock slow=1
-- says 'more: 5 lines in 1,000 instructions come from it (baseline 1)'
-- test refuses: few do
-- total metric=vmstat.numa_hint_faults slow_rate=100 against_rate=0
-- budget state=kernel path=;main;asm_exc_page_fault;do_numa_page; slow=2
-- test refuses: a few more lines come from there
-- counted class=remote title=lines slow=1.2 against=1 each=100 slow_cpi=1.5 against_cpi=1.1 more=0.013 more_low=0.01 more_high=0.02
-- budget state=user slow=3 against=2
