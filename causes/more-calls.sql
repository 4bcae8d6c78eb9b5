-- cause more-calls: a function is called more often, or goes round its loop more often
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all
-- says: {subject:fn} goes round its loop {rounds} times per unit of work (baseline {rounds_before}), {ns:ns} each
--   (baseline {ns_before:ns})
-- evidence: sampled: {slow:s} of CPU time per unit of work (baseline {against:s})
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin; its callers: twinscope flame SLOW.twin --reverse
-- try: find out why it is called more often or has more to go through: its callers, the size of its input
-- see: docs/instructions.md
-- claims:
with more_rounds as materialized (
    select function, (slow_rounds - against_rounds) * against_ns / 1e9 as more,
           grown(slow_rounds, against_rounds, 1.15, 1.4) as score
    from loop_rate where slow_rounds > against_rounds
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, m.score * min(1.0, m.more / c.growth) as part
from budget b join more_rounds m on m.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
-- tells:
select coalesce(b.focus, b.function) as subject, l.slow_rounds as rounds, l.against_rounds as rounds_before,
       l.slow_ns as ns, l.against_ns as ns_before, max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell join loop_rate l on l.function = b.function group by 1
-- test claims: five times the rounds
-- budget* state=user function=find focus=find slow=5 against=1
-- budget state=user function=parse focus=parse slow=2 against=1
-- loop_rate function=find slow_ns=20 against_ns=20 slow_rounds=25e7 against_rounds=5e7 apart=0 slow_bound=core
-- says 'goes round its loop'
-- test refuses: as many, each longer
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=core
-- test refuses: no register counts them
-- budget state=user function=find focus=find slow=5 against=1
