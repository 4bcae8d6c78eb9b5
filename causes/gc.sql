-- cause gc: garbage collection takes the time
-- layer: jvm
-- page: profiles processes
-- needs: thread_time
-- yields: compaction goroutine-lock heap-size ipi irq-imbalance memory-limit nagle page-faults priority slow-clock
--   thundering-herd
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s})
-- evidence: in threads {threads}
-- check: -Xlog:gc*, jstat -gcutil PID 1s; GODEBUG=gctrace=1
-- try: allocate less (async-profiler -e alloc), a larger young generation, another collector (-XX:+UseParallelGC for
--   throughput, -XX:+UseZGC for pauses); Go: GOGC
-- experiment: jvm -Xmn: x1 x2
-- experiment: jvm -XX:+UseParallelGC: off on
-- experiment: env GOGC: 100 200 400
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
-- tail: helper VM Thread
-- tail: helper GC Thread*
-- tail: helper G1 *
-- tail: helper ParGC*
-- tail: helper ZWorker*
-- tail: helper Shenandoah*
-- tail-says: slow requests stand still for {more:s} while thread {helper} collects garbage
-- when:
select grown(sum(slow), sum(against), 1.2, 1.4) as score, ramp(sum(share), 0.07, 0.13) as of_waits,
       sum(slow) as collector, sum(against) as against_collector, group_concat(distinct thread) as threads
from budget
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work') having count(*) > 0
-- claims:
select 'garbage collection' as subject, cell,
       iif(has_role(roles, 'gc.work') and state <> 'idle' or has_role(roles, 'gc.stop'), 1.0, of_waits) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
      -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: the collector works more
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: as much as before
-- budget thread='GC Thread#' state=user slow=1 against=1
-- budget state=idle slow=3
