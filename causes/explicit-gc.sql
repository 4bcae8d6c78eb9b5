-- cause explicit-gc: the program requests garbage collections
-- layer: jvm
-- page: profiles
-- needs: thread_time
-- specific: 8
-- says: the program calls System.gc: the collections take {slow:s} per unit of work (baseline {against:s})
-- evidence: called from {asker:fn}
-- check: -Xlog:gc: "Pause Full (System.gc())"
-- try: -XX:+DisableExplicitGC, or -XX:+ExplicitGCInvokesConcurrent if direct buffers need it; remove the call
-- experiment: -XX:+DisableExplicitGC
-- see: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/System.html#gc()
with asked as materialized (
    select caller, sum(slow) as slow, sum(against) as against from budget
    where path glob '*JVM_GC*' or path glob '*java.lang.Runtime.gc*' or path glob '*java.lang.System.gc*'
        or path glob '*;runtime.GC;*'
),
collector as materialized (
    select cell, slow, against from budget
    where (state in ('user', 'kernel', 'lock', 'fault', 'runnable')
        and (thread glob 'GC Thread#*' or thread glob 'G#*' or thread glob 'ParGC*' or thread = 'VM Thread'
        or thread glob 'Concurrent Mark*' or path glob '*runtime.gcBgMarkWorker*'))
       or path glob '*JVM_GC*' or path glob '*java.lang.Runtime.gc*' or path glob '*java.lang.System.gc*'
           or path glob '*;runtime.GC;*'
       -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
       or (state in ('idle', 'other', 'lock') and path glob '*VMThread::execute*')
           or (state in ('idle', 'fewer_threads', 'runnable') and share > 0)
)
select 'System.gc' as subject, c.cell, 1.0 as part, sum(c.slow) over () as slow, sum(c.against) over () as against,
    a.caller as asker
from collector c, asked a where a.slow > 3 * a.against and a.slow > 0
-- test claims: the program asks for it
-- budget* state=kernel path=;Main.run;java.lang.System.gc;JVM_GC; caller=Main.run slow=1
-- budget* thread='GC Thread#' state=user slow=4
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: a collector that nobody asked
-- budget thread='GC Thread#' state=user slow=4
-- budget state=idle slow=3
