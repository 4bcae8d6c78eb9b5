-- cause frontend: the code that runs lies further apart: the CPU waits for instructions
-- layer: code
-- page: code profiles
-- needs: thread_time sample.address code_space
-- against: yes
-- yields: busy-wait code-cache code-sparsity deoptimization false-sharing gc jit lock-contention true-sharing
-- says: the code that runs is spread over {spread} (baseline {before}; sampled), and the CPU waits for instructions
-- evidence: sampled: {slow_part:%} of the samples wait at the entry of a function (baseline {against_part:%})
-- evidence: sampled: {drawn} samples drawn at random find {slow_lines} lines of 64 bytes (baseline {against_lines}) and
--   {slow_regions} regions of 2 MiB (baseline {against_regions})
-- evidence: the instruction TLB of this CPU has {slow_itlb} entries for pages of 4 KiB
-- evidence: {slow_huge:%} of the samples lie on huge pages (baseline {against_huge:%})
-- check: perf stat -e iTLB-load-misses,L1-icache-load-misses on both, where there are hardware counters
-- try: put what runs together: profile-guided optimisation (-fprofile-use), cold parts out of line, an order of
--   functions by use (ld.lld --symbol-ordering-file, llvm-bolt), less inlining
-- try: huge pages for the text of the program
-- see: docs/footprint.md
-- when:
-- What fits in the first-level cache (some 512 lines) and TLB (some 64 pages) does not matter, wherever it lies.
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
    select e.slow_part as slow_part, e.against_part as against_part,
           e.slow_part * u.slow as slow_time, e.against_part * u.against as against_time
    from code_entry e, used u where e.slow_samples >= 50 and e.against_samples >= 50
)
select max(s.by_pages, s.by_lines) * ramp(s.drawn, 200, 400) * (1 - ramp(coalesce(g.top, 0), 0.3, 0.5))
       * iif(e.slow_time is null, 1, grown(e.slow_time, e.against_time, 1.15, 1.5)) as score,
       iif(s.by_pages >= s.by_lines, cast(round(s.slow_pages) as integer) || ' pages in ' || cast(s.drawn as integer) || ' samples',
           cast(round(s.slow_lines) as integer) || ' lines in ' || cast(s.drawn as integer) || ' samples') as spread,
       cast(round(iif(s.by_pages >= s.by_lines, s.against_pages, s.against_lines)) as integer) as before, s.drawn,
       round(s.slow_lines) as slow_lines, round(s.against_lines) as against_lines,
       round(s.slow_regions) as slow_regions, round(s.against_regions) as against_regions, s.slow_itlb,
       100 * s.slow_huge as slow_huge, 100 * s.against_huge as against_huge, 100 * e.slow_part as slow_part,
       100 * e.against_part as against_part, e.slow_time - e.against_time as more
from size s, used u, growth g left join entry e on 1
-- claims:
with cells as materialized (
    select sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 and slow > against having growth > 0
)
select 'code that lies apart' as subject, b.cell, iif(g.more is null, 1.0, min(1.0, g.more / c.growth)) as part
from budget b, cells c, given g
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
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
