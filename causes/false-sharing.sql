-- cause false-sharing: threads use different data in one cache line
-- layer: code
-- page: sharing profiles
-- needs: thread_time sample sharing_access sharing_look
-- before: busy-wait lock-contention
-- says: threads use different data of one cache line, {subject}[[ ({fields})]], in {function:fn}
-- evidence: sampled: waiting for that line takes {whole:%} of the CPU time of {comm}
-- evidence: estimated: without it that code were {speedup} times as fast
-- evidence: {seen}
-- evidence: {note}
-- check: twinscope sharing SLOW.twin; for watchpoints: twinscope record --sharing, or perf c2c where there are counters
-- try: give each thread's part a line of its own: alignas(64) or padding, @Contended in Java, CachePadded in Rust;
--   keep what is written apart from what is only read; count per thread, and add up now and then
-- see: docs/sharing.md
-- see: https://docs.kernel.org/kernel-hacking/false-sharing.html
-- claims:
with cpu as materialized (
    select comm, sum(slow) as slow, sum(against) as against from budget
    where state in ('user', 'kernel') and aside = 0 group by comm
),
-- Seconds per unit of work that a function waits for lines of that kind, on either side.
waits as materialized (
    select s.thing, s.function, s.comm, s.slow_part * c.slow as slow,
           min(s.against_part, s.slow_part) * c.against as against
    from sharing s join cpu c on c.comm = s.comm where s.kind = 'false' and s.whole >= 0.02
),
cells as materialized (
    select comm, function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 group by comm, function having growth > 0
)
select w.thing as subject, b.cell, min(1.0, (w.slow - w.against) / c.growth) as part
from waits w join budget b on b.function = w.function and b.comm = w.comm
join cells c on c.function = w.function and c.comm = w.comm
where b.state = 'user' and b.aside = 0 and b.slow > b.against and w.slow > w.against * 1.2
-- tells:
select s.thing as subject, s.fields, s.function, s.comm, 100 * s.whole as whole, round(s.speedup, 1) as speedup, s.note,
       iif(s.proven = 1, 'watched: watchpoints saw several threads use it', null) as seen
from (select *, row_number() over (partition by thing order by slow_part desc) as place from sharing) s
where s.place = 1 and s.thing in (select subject from claimed)
-- test claims: two counters in one line
-- budget* state=user function=count comm=app slow=10 against=1
-- budget state=user function=parse comm=app slow=2 against=1
-- sharing kind=false thing=tallies fields=value comm=app function=count slow_part=0.7 against_part=0 whole=0.7 speedup=3
-- says 'threads use different data of one cache line, tallies (value), in `count()`'
-- test refuses: the same on both sides
-- budget state=user function=count comm=app slow=10 against=10
-- sharing kind=false thing=tallies fields=value comm=app function=count slow_part=0.7 against_part=0.7 whole=0.7 speedup=3
-- test refuses: they use the same data
-- budget state=user function=count comm=app slow=10 against=1
-- sharing kind=true thing=total fields=value comm=app function=count slow_part=0.7 against_part=0 whole=0.7
