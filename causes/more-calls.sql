-- cause more-calls: a function is called more often, or goes round its loop more often
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all
-- says: {subject:fn} {does} {count} times per unit of work (baseline {count_before}), {each:s} each (baseline
--   {each_before:s})
-- evidence: {how}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin; its callers: twinscope flame SLOW.twin --reverse
-- try: find out why it is called more often or has more to go through: its callers, the size of its input
-- see: docs/instructions.md
-- claims:
with counted as materialized (
    select function, slow_ns, against_ns, slow_calls as slow_count, against_calls as against_count from call_rate
    union all
    select function, slow_ns, against_ns, slow_rounds, against_rounds from loop_rate
    where function not in (select function from call_rate)
),
more as materialized (
    select function, (slow_count - against_count) * against_ns / 1e9 as more,
           grown(slow_count, against_count, 1.15, 1.4) as score
    from counted where slow_count > against_count
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, max(m.score * min(1.0, m.more / c.growth)) as part
from budget b join more m on m.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against group by b.cell
-- tells:
select coalesce(b.focus, b.function) as subject,
       iif(r.function is null, 'goes round its loop', 'is called') as does,
       iif(r.function is null, 'sampled', 'calls counted, time sampled') as how,
       coalesce(r.slow_calls, l.slow_rounds) as count, coalesce(r.against_calls, l.against_rounds) as count_before,
       coalesce(r.slow_ns, l.slow_ns) / 1e9 as each, coalesce(r.against_ns, l.against_ns) / 1e9 as each_before,
       max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell left join call_rate r on r.function = b.function
left join loop_rate l on l.function = b.function group by 1
-- test claims: five times the rounds
-- budget* state=user function=find focus=find slow=5 against=1
-- budget state=user function=parse focus=parse slow=2 against=1
-- loop_rate function=find slow_ns=20 against_ns=20 slow_rounds=25e7 against_rounds=5e7 apart=0 slow_bound=core
-- says 'goes round its loop'
-- test claims: five times the calls
-- budget* state=user function=find focus=find slow=5 against=1
-- call_rate function=find slow_ns=200 against_ns=200 slow_calls=25e6 against_calls=5e6 apart=0
-- says '`find()` is called'
-- test refuses: as many, each longer
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=core
-- test refuses: as many calls, each of them longer, whatever its rounds do
-- budget state=user function=find focus=find slow=5 against=1
-- call_rate function=find slow_ns=1000 against_ns=200 slow_calls=5e6 against_calls=5e6 apart=1
-- loop_rate function=find slow_ns=20 against_ns=20 slow_rounds=25e7 against_rounds=5e7 apart=0 slow_bound=core
-- test refuses: no register counts them
-- budget state=user function=find focus=find slow=5 against=1
