-- cause heap-size: the heap is too small: the collector runs all the time
-- layer: jvm
-- page: profiles set-up
-- needs: thread_time
-- against: yes
-- yields: explicit-gc listen-overflow mm-lock process-creation swap tlb-shootdown
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s}); heap size: {slow_heap} (baseline
--   {against_heap})
-- evidence: in threads {threads}
-- check: jcmd PID VM.flags; jstat -gcutil PID 1s: the old generation is near 100 % after each collection
-- try: a larger heap: -Xmx, -XX:MaxRAMPercentage; start with twice the live data
-- experiment: jvm -Xmx: x1 x2 x4
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
-- when:
with commands as materialized (
    select max(iif(s.side = 'slow', r.command, null)) as slow, max(iif(s.side = 'against', r.command, null)) as against
    from run r join side s on s.run = r.run
),
-- What stands behind -Xmx in each.
behind as materialized (
    select iif(instr(slow, '-Xmx') > 0, substr(slow, instr(slow, '-Xmx') + 4), 'the default') || '"' as slow,
           iif(instr(against, '-Xmx') > 0, substr(against, instr(against, '-Xmx') + 4), 'the default') || '"' as against
    from commands
),
heaps as materialized (
    select substr(slow, 1, instr(slow, '"') - 1) as slow, substr(against, 1, instr(against, '"') - 1) as against
    from behind
),
collector as materialized (
    select grown(sum(slow), sum(against), 1.2, 1.4) as score, ramp(sum(share), 0.07, 0.13) as of_waits,
           sum(slow) as slow, sum(against) as against, group_concat(distinct thread) as threads
    from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
)
select c.score * (h.slow <> h.against) as score, c.of_waits, c.slow as collector, c.against as against_collector,
       c.threads, h.slow as slow_heap, h.against as against_heap
from heaps h, collector c
-- claims:
select 'heap' as subject, cell,
       iif(has_role(roles, 'gc.work') and state <> 'idle' or has_role(roles, 'gc.stop'), 1.0, of_waits) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
      -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: a smaller heap
-- run run=slow command='["java","-Xmx64m"]'
-- run run=against command='["java","-Xmx1g"]'
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: the same heap, other arguments
-- run run=slow command='["java","-Xmx64m","Main","9"]'
-- run run=against command='["java","-Xmx64m"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
