-- cause serial-phase: a single thread works while the others wait for it
-- layer: scheduling
-- page: time-budget
-- needs: thread_time running wait
-- yields: goroutine-sleep
-- says: a single thread runs for {slow_serial:ratio} of the time (baseline {against_serial:ratio})
-- evidence: wait time of the other threads per unit of work: {waited:s} (baseline {against_waited:s})
-- check: twinscope report: threads at once; twinscope flame SLOW.twin --window of the phase
-- try: parallelise that part, overlap it with the rest, or start it earlier
-- see: Amdahl, Validity of the single processor approach, 1967
-- when:
with
-- Threads that take turns run alone too; none of their waits lasts.
turns as (
    select coalesce(sum(max(slow_time - coalesce(against_time, 0), 0)), 0) as time from wait_use
    where state in ('idle', 'pipe', 'network', 'other') and slow_time < 0.0005 * slow_count
      and waker in (select distinct comm from budget where comm is not null)
),
-- Goroutines that sleep leave who is awake alone.
asleep as (
    select coalesce(max(slow_number - against_number), 0) as more from goroutine_use where reason = 'sleep'
)
select ramp(max(r.slow, coalesce(r.against, 0)), 1.05, 1.2) * ramp(m.slow, 0.06, 0.1) * ramp(-m.slow, -0.95, -0.9) * ramp(m.slow - coalesce(m.against, 0), 0.03, 0.07) * ramp(-a.more, -0.7, -0.3)
       * ramp(coalesce(-t.time / nullif(max(i.slow - i.against, 0), 0), 1e9), -0.6, -0.4) as score,
       m.slow as slow_serial, coalesce(m.against, 0) as against_serial, i.slow as waited, i.against as against_waited
from measure m, state i, turns t, asleep a, measure r
-- A program of one thread has no other that waits.
where m.name = 'serial' and i.state = 'idle' and r.name = 'running'
-- claims:
select 'serial phase' as subject, cell, 1.0 as part from budget where state in ('idle', 'fewer_threads') and share > 0
-- test claims: an end in one thread
-- measure name=serial slow=0.5 against=0.1
-- budget* state=idle slow=5 against=1
-- budget state=user slow=1 against=1
-- says 'a single thread runs for 50 % of the time (baseline 10 %)'
-- test refuses: one thread works in both
-- measure name=serial slow=0.5 against=0.1
-- measure name=running slow=0.99 against=1.02
-- budget state=idle slow=5 against=1
-- budget state=user slow=1 against=1
-- test refuses: threads that take turns
-- measure name=serial slow=0.5 against=0.1
-- wait_use state=idle waker=app slow_count=1e5 slow_time=3 against_time=0
-- budget state=idle slow=5 against=1
