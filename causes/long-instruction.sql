-- cause long-instruction: the CPU waits for instructions that take long
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all memory-bound
-- says: {subject:fn} waits for divisions, string instructions and such: {long:s} of CPU time per unit of work (baseline
--   {long_before:s})
-- evidence: sampled: {samples} samples landed right after such an instruction
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin
-- try: multiply by the reciprocal, divide by constants or powers of two, copy less, leave out fences
-- see: docs/instructions.md
-- claims:
with long as materialized (
    select function, sum(iif(wait in ('long', 'serialising'), slow - against, 0.0)) as more,
           ramp(sum(iif(wait in ('long', 'serialising'), slow, 0.0)) / sum(slow), 0.25, 0.4)
           * ramp(sum(iif(wait in ('long', 'serialising'), slow_samples, 0)), 10, 30) as score
    from instruction_wait group by function having sum(slow) > 0
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, l.score * min(1.0, max(0.0, l.more / c.growth)) as part
from budget b join long l on l.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
-- tells:
select coalesce(b.focus, b.function) as subject, sum(iif(w.wait in ('long', 'serialising'), w.slow, 0.0)) as long,
       sum(iif(w.wait in ('long', 'serialising'), w.against, 0.0)) as long_before,
       sum(iif(w.wait in ('long', 'serialising'), w.slow_samples, 0)) as samples
from (select distinct focus, function from claimed d join budget b on b.cell = d.cell) b
join instruction_wait w on w.function = b.function group by 1
-- test claims: a division in a loop
-- budget* state=user function=scale focus=scale slow=5 against=1
-- instruction_wait function=scale wait=long slow=4 against=0 slow_samples=400 against_samples=0
-- instruction_wait function=scale wait=core slow=1 against=1 slow_samples=100 against_samples=100
-- says 'divisions, string instructions and such: 4 s of CPU time per operation (baseline 0 s)'
-- test refuses: it was there before, and something else grew
-- budget state=user function=scale focus=scale slow=5 against=1
-- instruction_wait function=scale wait=long slow=1 against=1 slow_samples=100 against_samples=100
-- instruction_wait function=scale wait=load slow=4 against=0 slow_samples=400 against_samples=0
-- test refuses: a few samples
-- budget state=user function=scale focus=scale slow=5 against=1
-- instruction_wait function=scale wait=long slow=4 against=0 slow_samples=8 against_samples=0
