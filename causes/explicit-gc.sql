-- cause explicit-gc: the program requests garbage collections
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time
-- says: {who}: the collections take {slow:s} per unit of work (baseline {against:s})
-- evidence: called from {asker:fn}
-- evidence: {asked:1/s} of them stop all Java threads {stopped:ratio} of the time
-- check: -Xlog:gc: "Pause Full (System.gc())"
-- try: -XX:+DisableExplicitGC, or -XX:+ExplicitGCInvokesConcurrent if direct buffers need it; remove the call
-- experiment: jvm -XX:+DisableExplicitGC: off on
-- see: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/System.html#gc()
-- when:
with asked as materialized (
    select coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', time * per_unit, 0)), 0) / 1e9 as against,
           sum(iif(side = 'slow', together * per_second, 0)) as times,
           sum(iif(side = 'slow', time * per_second, 0)) / 1e9 as stopped, max(cause = 'System.gc()') as by_program
    from w_jvm_pause where cause in ('System.gc()', 'Heap Inspection Initiated GC', 'Diagnostic Command')
),
asking as materialized (
    select caller, slow, against
    from budget where has_role(roles, 'gc.ask') and not has_role(roles, 'interpreter') or path glob '*.gc;JVM_GC*'
),
seen as materialized (
    select sum(slow) as slow, sum(against) as against,
           (select caller from asking group by caller order by sum(slow) desc, caller limit 1) as asker
    from asking
)
select max(coalesce(ramp(s.slow, 0.0, 0.01 * e.slow) * grown(s.slow, s.against, 2, 4), 0),
           ramp(a.slow, 0.01 * e.slow, 0.03 * e.slow) * grown(a.slow, a.against, 2, 4)) as score,
       s.asker as asker, a.times as asked, a.stopped as stopped,
       iif(coalesce(a.by_program, 1), 'the program calls System.gc',
           'a tool asks the JVM for collections (jcmd, jmap)') as who
from asked a, seen s, (select slow from measure where name = 'elapsed') e
-- claims:
select 'System.gc' as subject, cell, 1.0 as part from budget
where state in ('user', 'kernel', 'lock', 'fault', 'runnable') and has_role(roles, 'gc.work') or has_role(roles, 'gc.ask')
      -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
   or state in ('idle', 'other', 'lock') and has_role(roles, 'gc.stop')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: the program asks for it
-- budget* state=kernel path=;Main.run;java.lang.System.gc;JVM_GC; caller=Main.run slow=1
-- budget* thread='GC Thread#' state=user slow=4
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: a collector that nobody asked
-- budget thread='GC Thread#' state=user slow=4
-- budget state=idle slow=3
-- test claims: told by their cause, in code without stacks
-- budget* thread='GC Thread#' state=user slow=4
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- w_jvm_pause side=slow kind=full cause='System.gc()' time=2000000000 per_unit=1 per_second=0.25 together=1
-- says 'the program calls System.gc'
-- test claims: a tool that counts objects
-- budget* thread='GC Thread#' state=user slow=4
-- budget state=user path=;Main.run; slow=1 against=1
-- w_jvm_pause side=slow kind=full cause='Heap Inspection Initiated GC' time=2000000000 per_unit=1 per_second=0.25 together=1
-- says 'a tool asks the JVM for collections'
