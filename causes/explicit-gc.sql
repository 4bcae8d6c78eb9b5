-- cause explicit-gc: the program requests garbage collections
-- layer: jvm
-- page: profiles
-- needs: thread_time
-- says: the program calls System.gc: the collections take {slow:s} per unit of work (baseline {against:s})
-- evidence: called from {asker:fn}
-- check: -Xlog:gc: "Pause Full (System.gc())"
-- try: -XX:+DisableExplicitGC, or -XX:+ExplicitGCInvokesConcurrent if direct buffers need it; remove the call
-- experiment: jvm -XX:+DisableExplicitGC: off on
-- see: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/System.html#gc()
-- when:
select ramp(sum(slow), 0.0, 0.01 * (select slow from measure where name = 'elapsed'))
       * grown(sum(slow), sum(against), 2, 4) as score,
       max(caller) as asker
from budget where has_role(roles, 'gc.ask') and not has_role(roles, 'interpreter') or path glob '*.gc;JVM_GC*'
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
