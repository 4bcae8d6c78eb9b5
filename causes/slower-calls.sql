-- cause slower-calls: calls of a function, or rounds of its loop, take longer
-- layer: code
-- page: profiles
-- needs: thread_time sample instruction_sample code
-- against: yes
-- yields: all long-instruction memory-bound
-- says: {what} {subject:fn} takes {each:s} (baseline {each_before:s}), and there are {count} per unit of work (baseline
--   {count_before})
-- evidence: {how}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- check: twinscope asm FUNCTION SLOW.twin --against FAST.twin
-- try: compare both versions of the code, what it was compiled with, and what its rounds wait for
-- see: docs/instructions.md
-- claims:
with counted as materialized (
    select function, slow_ns, against_ns, slow_calls as slow_count from call_rate where apart = 1
    union all
    select function, slow_ns, against_ns, slow_rounds from loop_rate where apart = 1
),
longer as materialized (
    select function, (slow_ns - against_ns) * slow_count / 1e9 as more, grown(slow_ns, against_ns, 1.15, 1.4) as score
    from counted where slow_ns > against_ns
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, max(l.score * min(1.0, l.more / c.growth)) as part
from budget b join longer l on l.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against group by b.cell
-- tells:
select coalesce(b.focus, b.function) as subject,
       iif(r.function is null, 'a round of the loop of', 'a call of') as what,
       iif(r.function is null, 'sampled', 'calls counted, time sampled') as how,
       coalesce(r.slow_calls, l.slow_rounds) as count, coalesce(r.against_calls, l.against_rounds) as count_before,
       coalesce(r.slow_ns, l.slow_ns) / 1e9 as each, coalesce(r.against_ns, l.against_ns) / 1e9 as each_before,
       max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell
left join call_rate r on r.function = b.function and r.apart = 1 and r.slow_ns > r.against_ns
left join loop_rate l on l.function = b.function group by 1
-- test claims: rounds of five times the length
-- budget* state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=core
-- says 'a round of the loop of `find()` takes 100 ns (baseline 20 ns)'
-- test claims: calls of five times the length
-- budget* state=user function=find focus=find slow=5 against=1
-- call_rate function=find slow_ns=1000 against_ns=200 slow_calls=5e6 against_calls=5e6 apart=1
-- says 'a call of `find()` takes 1'
-- test refuses: as far apart as measurements of the same are
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=25 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=0 slow_bound=core
