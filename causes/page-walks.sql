-- cause page-walks: addresses miss the TLB: page tables are walked
-- layer: code
-- page: counters memory
-- needs: thread_time pmu
-- against: yes
-- yields: all cpu-frequency huge-pages smt
-- before: slower-function
-- says: page tables are walked more often: {slow_count} times in 1,000 instructions (baseline {against_count})
-- evidence: counted: {title}
-- evidence: estimated: each is taken to cost {each} cycles
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI); an instruction takes {slow_cpi}
--   cycles (baseline {against_cpi})
-- evidence: counters tell of the whole machine; CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope record --counters tlb; perf stat -e dTLB-load-misses,iTLB-load-misses; grep -i huge /proc/meminfo
-- try: huge pages for data (madvise, -XX:+UseTransparentHugePages, malloc's glibc.malloc.hugetlb=1) and for code; data
--   that is used together on fewer pages
-- experiment: setting /sys/kernel/mm/transparent_hugepage/enabled: x1 always
-- see: docs/counters.md
-- when:
-- It is of the whole machine, per instruction, and judged by the end of the interval that says least.
select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, more, slow as slow_count,
       against as against_count, 100 * slow as slow_part, 100 * against as against_part, title, each,
       round(100 * more) as more_part, round(100 * more_low) as more_low, round(100 * more_high) as more_high,
       slow_cpi, against_cpi
from counted where class = 'walks' and more > 0
-- claims:
select 'page tables' as subject, cell, min(1.0, more * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: counted more for each instruction
-- counted class=walks title=page slow=20 against=5 each=15 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=0.27 more_high=0.33
-- budget* state=user slow=3 against=2
-- budget* state=kernel slow=2 against=1
-- budget state=lock slow=2
-- test refuses: more on average, by chance
-- counted class=walks title=page slow=20 against=5 each=15 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=-0.1 more_high=0.7
-- budget state=user slow=3 against=2
-- test refuses: no more for an instruction, of which there are more
-- counted class=walks title=page slow=5 against=5 each=15 slow_cpi=1 against_cpi=1 more=0.01 more_low=-0.01 more_high=0.02
-- budget state=user slow=3 against=2
