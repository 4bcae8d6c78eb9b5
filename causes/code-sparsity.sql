-- cause code-sparsity: the hot code of a JVM is spread over more memory
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time sample jvm_code_layout
-- against: yes
-- yields: busy-wait code-cache deoptimization gc jit lock-contention
-- says: compiled code that runs is spread over {slow_pages} pages (baseline {against_pages}) and takes {slow:s} of CPU
--   time per unit of work (baseline {against:s}), without one method being slower than the others
-- evidence: 90 % of the samples lie in {slow_bytes:B} of machine code (baseline {against_bytes:B}), on {slow_pages_2m}
--   pages of 2 MiB (baseline {against_pages_2m})
-- evidence: the method that grew most has {top:ratio} of the growth
-- evidence: {slow_huge:B} of the code cache are in huge pages (baseline {against_huge:B})
-- check: perf stat -e iTLB-load-misses,L1-icache-load-misses on both
-- try: -XX:-TieredCompilation, which leaves out the code of C1 that counts; huge pages for the code cache:
--   -XX:+UseTransparentHugePages, or -XX:+UseLargePages with reserved ones
-- try: a smaller code cache (-XX:ReservedCodeCacheSize) lies closer together as long as it does not fill up
-- experiment: jvm -XX:+UseTransparentHugePages: off on
-- experiment: jvm -XX:-TieredCompilation: off on
-- see: https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
-- when:
with code as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against from method_use
),
-- Methods that all got slower, rather than one that did.
growth as materialized (
    select max(more) / nullif(sum(more), 0) as top
    from (select max(sum(slow) - sum(against), 0) as more from method_use group by function)
)
-- More samples find more pages: with many more of them the numbers cannot be compared.
select grown(s.slow_pages, s.against_pages, 1.5, 2.5) * ramp(s.slow_pages, 100, 250) * grown(c.slow, c.against, 1.1, 1.25)
       * (1 - ramp(coalesce(g.top, 1), 0.25, 0.4)) * ramp(min(s.slow_samples, s.against_samples), 200, 500)
       * (1 - ramp(s.slow_samples / nullif(s.against_samples, 0), 1.5, 2.5)) as score,
       round(s.slow_pages) as slow_pages, round(s.against_pages) as against_pages, s.slow_bytes, s.against_bytes,
       round(s.slow_pages_2m) as slow_pages_2m, round(s.against_pages_2m) as against_pages_2m, s.slow_huge, s.against_huge,
       g.top
from code_spread s, code c, growth g
where s.slow_pages is not null and s.against_pages is not null
-- claims:
select 'layout of the code cache' as subject, cell, 1.0 as part from budget
where state = 'user' and module glob '[[]jit*' and kind <> 'interpreted'
-- test claims: all methods are slower, and lie far apart
-- budget* state=user kind=jit module=[jit] function=Main.a slow=6 against=4
-- budget* state=user kind=inlined module=[jit] function=Main.b slow=6 against=4
-- budget state=user kind=native function=memcpy module=/lib/libc.so.6 slow=1 against=1
-- method_use function=Main.a tier=4 slow=6 against=4
-- method_use function=Main.b tier=4 slow=6 against=4
-- method_use function=Main.c tier=4 slow=6 against=4
-- method_use function=Main.d tier=4 slow=6 against=4
-- method_use function=Main.e tier=4 slow=6 against=4
-- code_spread slow_pages=592 against_pages=140 slow_bytes=1690000 against_bytes=402000 slow_samples=800 against_samples=700 slow_pages_2m=10 against_pages_2m=2
-- says 'spread over 592 pages (baseline 140)'
-- test refuses: one method does more
-- budget state=user kind=jit module=[jit] function=Main.a slow=6 against=1
-- method_use function=Main.a tier=4 slow=6 against=1
-- method_use function=Main.b tier=4 slow=1 against=1
-- code_spread slow_pages=592 against_pages=140 slow_samples=800 against_samples=700
-- test refuses: spread as before
-- budget state=user kind=jit module=[jit] function=Main.a slow=6 against=4
-- method_use function=Main.a tier=4 slow=6 against=4
-- method_use function=Main.b tier=4 slow=6 against=4
-- method_use function=Main.c tier=4 slow=6 against=4
-- method_use function=Main.d tier=4 slow=6 against=4
-- code_spread slow_pages=592 against_pages=540 slow_samples=800 against_samples=700
