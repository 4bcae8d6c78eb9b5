-- cause backend: CPUs wait for data or for free units
-- layer: code
-- page: counters profiles
-- needs: thread_time pmu
-- against: yes
-- yields: all branch-misses cpu-frequency false-sharing frontend huge-pages long-instruction memory-bound numa page-walks smt true-sharing
-- before: slower-function
-- says: the CPUs wait longer for data or free units: {slow_part:%} of what they could start (baseline {against_part:%})
-- evidence: counted: {title}
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI); an instruction takes {slow_cpi}
--   cycles (baseline {against_cpi})
-- evidence: counters tell of the whole machine; CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope record --counters topdown,data,memory; l1d_mpki to llc_mpki on the page Counters tell which level
-- try: make the data smaller or denser, keep what is used together in one line, prefetch, use huge pages
-- see: docs/counters.md
-- when:
-- It is of the whole machine, per instruction, and judged by the end of the interval that says least.
select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, more, slow as slow_count,
       against as against_count, 100 * slow as slow_part, 100 * against as against_part, title,
       round(100 * more) as more_part, round(100 * more_low) as more_low, round(100 * more_high) as more_high,
       slow_cpi, against_cpi
from counted where class = 'backend' and more > 0
-- claims:
select 'data' as subject, cell, min(1.0, more * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: counted more for each instruction
-- counted class=backend title=slots slow=0.4 against=0.1 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=0.27 more_high=0.33
-- budget* state=user slow=3 against=2
-- budget* state=kernel slow=2 against=1
-- budget state=lock slow=2
-- test refuses: more on average, by chance
-- counted class=backend title=slots slow=0.4 against=0.1 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=-0.1 more_high=0.7
-- budget state=user slow=3 against=2
-- test refuses: no more for an instruction, of which there are more
-- counted class=backend title=slots slow=0.1 against=0.1 slow_cpi=1 against_cpi=1 more=0.01 more_low=-0.01 more_high=0.02
-- budget state=user slow=3 against=2
