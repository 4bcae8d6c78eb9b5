-- cause slower-calls: rounds of a function's loop take longer
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all long-instruction memory-bound
-- says: a round of the loop of {subject:fn} takes {ns:ns} (baseline {ns_before:ns}), and there are {rounds} per unit of
--   work (baseline {rounds_before})
-- evidence: sampled: {slow:s} of CPU time per unit of work (baseline {against:s})
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin
-- try: compare both versions of the code, what it was compiled with, and what its rounds wait for
-- see: docs/instructions.md
-- claims:
with longer as materialized (
    select function, (slow_ns - against_ns) * slow_rounds / 1e9 as more, grown(slow_ns, against_ns, 1.15, 1.4) as score
    from loop_rate where apart = 1 and slow_ns > against_ns
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, l.score * min(1.0, l.more / c.growth) as part
from budget b join longer l on l.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
-- tells:
select coalesce(b.focus, b.function) as subject, l.slow_rounds as rounds, l.against_rounds as rounds_before,
       l.slow_ns as ns, l.against_ns as ns_before, max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell join loop_rate l on l.function = b.function group by 1
-- test claims: rounds of five times the length
-- budget* state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=core
-- says 'a round of the loop of `find()` takes 100 ns (baseline 20 ns)'
-- test refuses: as far apart as measurements of the same are
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=25 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=0 slow_bound=core
