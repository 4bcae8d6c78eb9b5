-- cause frontend: CPUs wait for instructions
-- layer: code
-- page: counters code profiles
-- needs: thread_time pmu|code_space
-- against: yes
-- yields: all branch-misses code-cache code-sparsity cpu-frequency jit page-walks smt
-- before: slower-function
-- says: [[the CPUs wait longer for instructions: {slow_part:%} of what they could start (baseline {against_part:%})]]
--   [[the code that runs is spread over {spread} (baseline {spread_before}; sampled), and the CPU waits for
--   instructions]]
-- evidence: counted: {title}
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI); an instruction takes {slow_cpi}
--   cycles (baseline {against_cpi})
-- evidence: counters tell of the whole machine; CPU time per unit of work: {counted_slow:s} (baseline
--   {counted_against:s})
-- evidence: sampled: {entry_part:%} of the samples wait at the entry of a function (baseline {entry_before:%})
-- evidence: sampled: {drawn} samples drawn at random find {slow_lines} lines of 64 bytes (baseline {against_lines}) and
--   {slow_regions} regions of 2 MiB (baseline {against_regions})
-- evidence: the instruction TLB of this CPU has {slow_itlb} entries for pages of 4 KiB
-- evidence: {slow_huge:%} of the samples lie on huge pages (baseline {against_huge:%})
-- check: twinscope record --counters fetch,topdown; perf stat -M TopdownL1; l1i_mpki, l2i_mpki and itlb_walks_pki on
--   the page Counters
-- try: less hot code, or closer together: profile-guided optimisation and BOLT, less inlining and unrolling, sections
--   by heat; huge pages for code (text and code cache)
-- see: docs/counters.md
-- see: docs/footprint.md
-- when:
-- Counted, it is of the whole machine, per instruction, and judged by the end of the interval that says least. Without counters of this, by samples: what fits in
-- the first-level cache (some 512 lines) and TLB (some 64 pages) does not matter, wherever it lies.
with size as materialized (
    select *, grown(slow_reach, against_reach, 1.5, 2.5) * ramp(slow_reach, 48, 96) as by_pages,
           grown(slow_lines, against_lines, 1.5, 2.5) * ramp(slow_lines, 256, 448) as by_lines
    from footprint where slow_lines is not null and against_lines is not null
),
used as materialized (
    select sum(slow) as slow, sum(against) as against from budget where state = 'user' and aside = 0
),
-- Waits for instructions hit all that is called, not one function.
growth as materialized (
    select max(more) / nullif(sum(more), 0) as top
    from (select max(sum(slow) - sum(against), 0) as more from budget
          where state = 'user' and aside = 0 and function is not null group by function)
),
entry as materialized (
    select e.slow_part as part, e.against_part as part_before,
           e.slow_part * u.slow as slow_time, e.against_part * u.against as against_time
    from code_entry e, used u where e.slow_samples >= 50 and e.against_samples >= 50
)
select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, 'counted' as how, more, slow as slow_count,
       against as against_count, 100 * slow as slow_part, 100 * against as against_part, title,
       round(100 * more) as more_part, round(100 * more_low) as more_low, round(100 * more_high) as more_high,
       slow_cpi, against_cpi, (select sum(slow) from budget where state in ('user', 'kernel')) as counted_slow,
       (select sum(against) from budget where state in ('user', 'kernel')) as counted_against,
       null as spread, null as spread_before, null as drawn, null as slow_lines, null as against_lines,
       null as slow_regions, null as against_regions, null as slow_itlb, null as slow_huge, null as against_huge,
       null as entry_part, null as entry_before
from counted where class = 'frontend' and more > 0
union all
select max(s.by_pages, s.by_lines) * ramp(s.drawn, 200, 400) * (1 - ramp(coalesce(g.top, 0), 0.3, 0.5))
       * iif(e.slow_time is null, 1, grown(e.slow_time, e.against_time, 1.15, 1.5)),
       'sampled', e.slow_time - e.against_time, null, null, null, null, null, null, null, null, null, null, null, null,
       iif(s.by_pages >= s.by_lines, cast(round(s.slow_pages) as integer) || ' pages in ' || cast(s.drawn as integer) || ' samples',
           cast(round(s.slow_lines) as integer) || ' lines in ' || cast(s.drawn as integer) || ' samples'),
       cast(round(iif(s.by_pages >= s.by_lines, s.against_pages, s.against_lines)) as integer), s.drawn,
       round(s.slow_lines), round(s.against_lines), round(s.slow_regions), round(s.against_regions), s.slow_itlb,
       100 * s.slow_huge, 100 * s.against_huge, 100 * e.part, 100 * e.part_before
from size s, used u, growth g left join entry e on 1
where not exists (select 1 from counted where class = 'frontend')
-- claims:
with cells as materialized (
    select sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 and slow > against having growth > 0
)
select 'instruction fetch' as subject, b.cell as cell, min(1.0, g.more * b.slow / (b.slow - b.against)) as part
from budget b, given g where g.how = 'counted' and b.state in ('user', 'kernel') and b.slow > b.against
union all
select 'code that lies apart', b.cell, iif(g.more is null, 1.0, min(1.0, g.more / c.growth))
from budget b, cells c, given g
where g.how = 'sampled' and b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
-- test claims: counted more for each instruction
-- counted class=frontend title=slots slow=0.4 against=0.1 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=0.27 more_high=0.33
-- budget* state=user slow=3 against=2
-- budget* state=kernel slow=2 against=1
-- budget state=lock slow=2
-- test refuses: more on average, by chance
-- counted class=frontend title=slots slow=0.4 against=0.1 slow_cpi=1.5 against_cpi=1 more=0.3 more_low=-0.1 more_high=0.7
-- budget state=user slow=3 against=2
-- test refuses: no more for an instruction, of which there are more
-- counted class=frontend title=slots slow=0.1 against=0.1 slow_cpi=1 against_cpi=1 more=0.01 more_low=-0.01 more_high=0.02
-- budget state=user slow=3 against=2
-- test claims: all functions are slower, and lie on pages of their own
-- budget* state=user function=a slow=6 against=3
-- budget* state=user function=b slow=6 against=3
-- budget* state=user function=c slow=6 against=3
-- budget* state=user function=d slow=6 against=3
-- budget state=kernel function=copy slow=1 against=1
-- footprint drawn=700 slow_lines=600 against_lines=610 slow_pages=590 against_pages=60 slow_reach=590 against_reach=60 slow_regions=9 against_regions=1 slow_itlb=576
-- code_entry slow_part=0.8 against_part=0.3 slow_samples=300 against_samples=200
-- says 'spread over 590 pages in 700 samples (baseline 60; sampled)'
-- test claims: more code runs than the first cache holds, and where samples land is not known
-- budget* state=user function=a slow=6 against=3
-- budget* state=user function=b slow=6 against=3
-- budget* state=user function=c slow=6 against=3
-- budget* state=user function=d slow=6 against=3
-- footprint drawn=1000 slow_lines=900 against_lines=250 slow_pages=130 against_pages=120 slow_reach=130 against_reach=120 slow_regions=1 against_regions=1
-- says 'spread over 900 lines in 1000 samples (baseline 250; sampled)'
-- test refuses: as far apart as before
-- budget state=user function=a slow=6 against=3
-- budget state=user function=b slow=6 against=3
-- budget state=user function=c slow=6 against=3
-- budget state=user function=d slow=6 against=3
-- footprint drawn=700 slow_lines=600 against_lines=610 slow_pages=590 against_pages=580 slow_reach=590 against_reach=580
-- test refuses: further apart, and nobody waits for that
-- budget state=user function=a slow=6 against=3
-- budget state=user function=b slow=6 against=3
-- budget state=user function=c slow=6 against=3
-- budget state=user function=d slow=6 against=3
-- footprint drawn=700 slow_lines=600 against_lines=610 slow_pages=590 against_pages=60 slow_reach=590 against_reach=60
-- code_entry slow_part=0.1 against_part=0.3 slow_samples=300 against_samples=200
-- test refuses: one function does more
-- budget state=user function=a slow=9 against=1
-- budget state=user function=b slow=1 against=1
-- footprint drawn=700 slow_lines=600 against_lines=610 slow_pages=590 against_pages=60 slow_reach=590 against_reach=60
-- test refuses: all of it fits
-- budget state=user function=a slow=6 against=3
-- budget state=user function=b slow=6 against=3
-- budget state=user function=c slow=6 against=3
-- budget state=user function=d slow=6 against=3
-- footprint drawn=700 slow_lines=90 against_lines=30 slow_pages=40 against_pages=8 slow_reach=40 against_reach=8
