-- cause frontend: CPUs wait for instructions
-- layer: code
-- page: counters code profiles
-- needs: thread_time pmu|code_space
-- against: yes
-- yields: all branch-misses busy-wait code-cache code-sparsity cpu-frequency deoptimization false-sharing gc jit
--   lock-contention page-walks smt true-sharing
-- before: slower-function
-- says: the CPUs wait longer for instructions[[: {slow_slots:%} of what they could start (baseline
--   {against_slots:%})]][[: the code that runs is spread over {spread} (baseline {before}; sampled)]]
-- evidence: counted: {title}, on the whole machine
-- evidence: that is {more_part} % of the cycles ({more_low} to {more_high} %, 95 % CI); an instruction takes {slow_cpi}
--   cycles (baseline {against_cpi})
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- evidence: sampled: {slow_entry:%} of the samples wait at the entry of a function (baseline {against_entry:%})
-- evidence: sampled: {drawn} samples drawn at random find {slow_lines} lines of 64 bytes (baseline {against_lines}) and
--   {slow_regions} regions of 2 MiB (baseline {against_regions})
-- evidence: the instruction TLB of this CPU has {slow_itlb} entries for pages of 4 KiB
-- evidence: {slow_huge:%} of the samples lie on huge pages (baseline {against_huge:%})
-- check: twinscope record --counters fetch,topdown; perf stat -M TopdownL1; l1i_mpki, l2i_mpki and itlb_walks_pki on
--   the page Counters; the page Code
-- try: less hot code, or closer together: profile-guided optimisation and BOLT, less inlining and unrolling, cold parts
--   out of line, an order of functions by use (ld.lld --symbol-ordering-file)
-- try: huge pages for code (text and code cache)
-- see: docs/counters.md docs/footprint.md
-- when:
-- What is counted is of the whole machine, per instruction, and judged by the end of the interval that says least.
-- Where nothing is, samples tell over how much memory the code lies: what fits in the first-level cache (some 512
-- lines) and TLB (some 64 pages) does not matter, wherever it lies.
with counted_more as materialized (
    select ramp(more, 0.03, 0.08) * ramp(more_low, 0.01, 0.03) as score, more, 100 * slow as slow_slots,
           100 * against as against_slots, title, round(100 * more) as more_part, round(100 * more_low) as more_low,
           round(100 * more_high) as more_high, slow_cpi, against_cpi
    from counted where class = 'frontend' and more > 0
),
size as materialized (
    select *, grown(slow_reach, against_reach, 1.5, 2.5) * ramp(slow_reach, 48, 96) as by_pages,
           grown(slow_lines, against_lines, 1.5, 2.5) * ramp(slow_lines, 256, 448) as by_lines
    from footprint where slow_lines is not null and against_lines is not null
        and not exists (select 1 from counted where class = 'frontend')
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
    select e.slow_part as slow_part, e.against_part as against_part,
           e.slow_part * u.slow as slow_time, e.against_part * u.against as against_time
    from code_entry e, used u where e.slow_samples >= 50 and e.against_samples >= 50
),
apart as materialized (
    select max(s.by_pages, s.by_lines) * ramp(s.drawn, 200, 400) * (1 - ramp(coalesce(g.top, 0), 0.3, 0.5))
           * iif(e.slow_time is null, 1, grown(e.slow_time, e.against_time, 1.15, 1.5)) as score,
           iif(s.by_pages >= s.by_lines, round(s.slow_pages), round(s.slow_lines)) as found,
           iif(s.by_pages >= s.by_lines, 'pages', 'lines') as what,
           iif(s.by_pages >= s.by_lines, round(s.against_pages), round(s.against_lines)) as before, s.drawn,
           round(s.slow_lines) as slow_lines, round(s.against_lines) as against_lines,
           round(s.slow_regions) as slow_regions, round(s.against_regions) as against_regions, s.slow_itlb,
           100 * s.slow_huge as slow_huge, 100 * s.against_huge as against_huge, 100 * e.slow_part as slow_entry,
           100 * e.against_part as against_entry, e.slow_time - e.against_time as more_time
    from size s, growth g left join entry e on 1
)
select coalesce(c.score, a.score, 0) as score, c.score is not null as is_counted, c.more, c.slow_slots, c.against_slots,
       c.title, c.more_part, c.more_low, c.more_high, c.slow_cpi, c.against_cpi,
       cast(a.found as integer) || ' ' || a.what || ' in ' || cast(a.drawn as integer) || ' samples' as spread,
       cast(a.before as integer) as before, a.drawn, a.slow_lines, a.against_lines, a.slow_regions, a.against_regions,
       a.slow_itlb, a.slow_huge, a.against_huge, a.slow_entry, a.against_entry, a.more_time
from (select 1) left join counted_more c on 1 left join apart a on 1
-- claims:
with cells as materialized (
    select sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 and slow > against having growth > 0
)
select 'instruction fetch' as subject, b.cell,
       iif(g.is_counted, min(1.0, g.more * b.slow / (b.slow - b.against)),
           iif(g.more_time is null, 1.0, min(1.0, g.more_time / c.growth))) as part
from budget b, given g left join cells c on 1
where b.slow > b.against
    and iif(g.is_counted, b.state in ('user', 'kernel'), b.state = 'user' and b.aside = 0 and b.fresh = 0)
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
