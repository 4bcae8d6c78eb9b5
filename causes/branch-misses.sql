-- cause branch-misses: branches are predicted wrongly
-- layer: code
-- page: counters profiles
-- needs: thread_time pmu
-- against: yes
-- yields: all cpu-frequency smt
-- before: slower-function
-- says: branches are predicted wrongly more often[[: {rate} per 1,000 instructions (baseline {rate_before})]][[: {lost:%}
--   of what the CPUs could start is lost to it (baseline {lost_before:%})]]
-- evidence: counted: {title}
-- evidence: estimated: each is taken to cost {each} cycles
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI); an instruction takes {slow_cpi}
--   cycles (baseline {against_cpi})
-- evidence: counters tell of the whole machine; CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope record --counters branch; perf stat -e branches,branch-misses; perf record -e branch-misses
-- try: sort or partition the data, tables or conditional moves instead of branches, fewer targets of indirect calls;
--   mitigations (retpolines) that the baseline does without
-- see: docs/counters.md
-- when:
-- It is of the whole machine, per instruction, and judged by the end of the interval that says least.
select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, more, slow as slow_count,
       against as against_count, 100 * slow as slow_part, 100 * against as against_part, title, each,
       round(100 * more) as more_part, round(100 * more_low) as more_low, round(100 * more_high) as more_high,
       slow_cpi, against_cpi, iif(each is null, null, slow) as rate, iif(each is null, null, against) as rate_before,
       iif(each is null, 100 * slow, null) as lost, iif(each is null, 100 * against, null) as lost_before
from counted where class = 'branches' and more > 0
-- claims:
select 'branches' as subject, cell, min(1.0, more * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: counted more for each instruction
-- counted class=branches title=branches slow=20 against=5 each=15 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=0.27 more_high=0.33
-- budget* state=user slow=3 against=2
-- budget* state=kernel slow=2 against=1
-- budget state=lock slow=2
-- test refuses: more on average, by chance
-- counted class=branches title=branches slow=20 against=5 each=15 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=-0.1 more_high=0.7
-- budget state=user slow=3 against=2
-- test refuses: no more for an instruction, of which there are more
-- counted class=branches title=branches slow=5 against=5 each=15 slow_cpi=1 against_cpi=1 more=0.01 more_low=-0.01 more_high=0.02
-- budget state=user slow=3 against=2
