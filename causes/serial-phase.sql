-- cause serial-phase: a single thread works while the others wait for it
-- layer: scheduling
-- page: time-budget
-- needs: thread_time running wait
-- specific: 5
-- says: a single thread runs for {slow_serial:ratio} of the time (baseline {against_serial:ratio})
-- evidence: wait time of the other threads per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope report: threads at once; twinscope flame SLOW.twin --window of the phase
-- try: parallelise that part, overlap it with the rest, or start it earlier
-- see: Amdahl, Validity of the single processor approach, 1967
with serial as materialized (select slow as slow_serial, coalesce(against, 0) as against_serial from measure
    where name = 'serial' and slow > 0.08 and slow > coalesce(against, 0) + 0.05),
idle as (select slow, coalesce(against, 0) as against from state where state = 'idle'),
-- Threads that take turns run alone too; none of their waits lasts.
turns as (
    select coalesce(sum(max(slow_time - coalesce(against_time, 0), 0)), 0) as time from wait_use
    where state in ('idle', 'pipe', 'network', 'other') and slow_time < 0.0005 * slow_count
        and waker in (select distinct comm from budget where comm is not null)
)
select 'serial phase' as subject, b.cell, 1.0 as part, s.slow_serial, s.against_serial,
       i.slow, i.against
from budget b, serial s, idle i, turns t
where b.state in ('idle', 'fewer_threads') and b.share > 0
  -- Goroutines that sleep leave who is awake alone.
  and not exists (select 1 from goroutine_use where reason = 'sleep' and slow_number > against_number + 0.5)
  and (i.slow <= i.against or t.time < 0.5 * (i.slow - i.against))
-- test claims: an end in one thread
-- measure name=serial slow=0.5 against=0.1
-- budget* state=idle slow=5 against=1
-- budget state=user slow=1 against=1
-- says 'a single thread runs for 50 % of the time (baseline 10 %)'
-- test refuses: threads that take turns
-- measure name=serial slow=0.5 against=0.1
-- wait_use state=idle waker=app slow_count=1e5 slow_time=3 against_time=0
-- budget state=idle slow=5 against=1
