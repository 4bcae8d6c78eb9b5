-- cause memory-bound: loops wait for memory
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all
-- says: loops of {subject:fn} wait longer for memory: {each:s} a round (baseline {each_before:s})
-- evidence: sampled: of its time, {part:%} is waiting for loads and stores
-- evidence: estimated: a round takes at least 3.9 times what it would with its data in the L1 cache
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin
-- try: make the data smaller or denser, keep what is used together in one line, prefetch, use huge pages
-- see: docs/instructions.md
-- claims:
with grown_rounds as materialized (
    select function, (slow_ns - against_ns) * slow_rounds / 1e9 as more, grown(slow_ns, against_ns, 1.15, 1.4) as score
    from loop_rate where slow_bound = 'memory' and apart = 1 and slow_ns > against_ns
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, g.score * min(1.0, g.more / c.growth) as part
from budget b join grown_rounds g on g.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
-- tells:
select coalesce(b.focus, b.function) as subject, l.slow_ns / 1e9 as each, l.against_ns / 1e9 as each_before,
       (select 100 * sum(iif(w.wait in ('load', 'store', 'atomic'), w.slow, 0.0)) / sum(w.slow) from instruction_wait w
        where w.function = b.function) as part, max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell join loop_rate l on l.function = b.function group by 1
-- test claims: a walk through memory that no cache holds any more
-- budget* state=user function=find focus=find slow=5 against=1
-- budget state=user function=parse focus=parse slow=2 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=memory
-- instruction_wait function=find wait=load slow=4.5 against=0.5 slow_samples=450 against_samples=50
-- instruction_wait function=find wait=core slow=0.5 against=0.5 slow_samples=50 against_samples=50
-- says 'loops of `find()` wait longer for memory: 100 ns a round (baseline 20 ns)'
-- test refuses: a loop that computes
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=core
-- test refuses: more rounds, each as long
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=20 against_ns=20 slow_rounds=25e7 against_rounds=5e7 apart=0 slow_bound=memory
