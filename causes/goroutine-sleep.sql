-- cause goroutine-sleep: goroutines poll with a timer instead of being woken
-- layer: scheduling
-- page: profiles
-- needs: thread_time goroutine_wait
-- yields: cpu-affinity gc retransmits safepoints sync-writes
-- says: goroutines sleep in {subject:fn}: {slept:s} per unit of work (baseline {against_slept:s})
-- evidence: seen in the memory of the program: {number} goroutines asleep on average (baseline {against_number})
-- check: twinscope flame SLOW.twin --state goroutines; go tool pprof of /debug/pprof/goroutine
-- try: wait for the event itself: a channel that is closed or sent to, sync.Cond, a context; shorter sleeps cost CPU
--   time
-- experiment: parameter sleep: x0.1 x1
-- see: https://pkg.go.dev/time#Sleep; https://go.dev/doc/diagnostics
-- when:
-- Some always sleep; where more of them do than before, CPUs that have nothing to do wait for those.
select ramp(g.more, 0.1, 0.3) * iif(p.is_pair, 1.0, ramp(g.more / i.idle, 0.6, 1.0)) as score, g.more, i.idle,
       g.number as goroutines, g.against_number as against_goroutines
from (select sum(slow_number) as number, sum(against_number) as against_number,
             sum(max(slow_number - against_number, 0)) as more
      from goroutine_use where reason = 'sleep' and function is not null) g,
     (select max(slow - coalesce(against, 0), 0.1) as idle from measure where name = 'idle_cpus') i, pair p
-- claims:
select g.function as subject, b.cell, (g.slow_number - g.against_number) / more * min(more / idle, 1.0) as part
from budget b, goroutine_use g, given
where g.reason = 'sleep' and g.function is not null and g.slow_number - g.against_number > 0.03 * more
  and (b.state in ('idle', 'fewer_threads') and b.share > 0
       or b.state in ('user', 'kernel', 'idle') and (has_role(b.roles, 'scheduler') or b.path glob '*;time.Sleep;*'))
-- tells:
select function as subject, sum(slow_time) as slept, sum(against_time) as against_slept,
       sum(slow_number) as number, sum(against_number) as against_number
from goroutine_use where reason = 'sleep' group by function
-- test claims: goroutines that try again after a while
-- goroutine_use reason=sleep function=retry slow_time=4 against_time=0 slow_number=3 against_number=0
-- measure name=idle_cpus slow=1 against=0
-- budget* state=idle slow=4
-- budget state=user path=;main.main; slow=1 against=1
-- says 'goroutines sleep in `retry()`: 4 s per operation (baseline 0 s)'
-- test refuses: as many goroutines as before sleep
-- goroutine_use reason=sleep function=retry slow_time=4 slow_number=3 against_number=3
-- measure name=idle_cpus slow=1 against=0
-- budget state=idle slow=4
