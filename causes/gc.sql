-- cause gc: garbage collection takes the time
-- layer: jvm
-- page: profiles processes
-- needs: thread_time
-- specific: 6
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s})
-- evidence: in threads {threads}
-- check: -Xlog:gc*, jstat -gcutil PID 1s; GODEBUG=gctrace=1
-- try: allocate less (async-profiler -e alloc), a larger young generation, another collector (-XX:+UseParallelGC for
--   throughput, -XX:+UseZGC for pauses); Go: GOGC
-- experiment: -Xmx, -Xmn, collector
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
with collector as materialized (
    select cell, slow, against, thread from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable')
      and (thread glob 'GC Thread#*' or thread glob 'G#*' or thread glob 'ParGC*' or thread glob 'GC task*'
          or thread glob 'Concurrent Mark*' or thread glob 'Z*Driver*' or thread glob 'ZWorker*'
          or thread glob 'Shenandoah*'
           or thread = 'VM Thread' or function glob 'runtime.gcBgMarkWorker*' or path glob '*;runtime.gcBgMarkWorker*'
               or path glob '*;runtime.gcAssist*' or path glob '*;gc_collect_main;*' or path glob '*;PyGC_Collect*'
           or path glob '*;VM_G1*' or path glob '*;VM_Gen*' or path glob '*;VM_Parallel*'
               or path glob '*;DefNewGeneration::*' or path glob '*;GenMarkSweep::*' or path glob '*;SerialHeap::*'
               or path glob '*;GenCollectedHeap::*')
),
grown as materialized (select sum(slow) as slow, sum(against) as against, group_concat(distinct thread) as threads
    from collector having sum(slow) > 1.3 * sum(against)),
-- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
stopped as materialized (
    select cell from budget where (state in ('idle', 'lock', 'other') and (path glob '*Safepoint*'
        or path glob '*VM_Operation*' or path glob '*VMThread::execute*' or path glob '*collect*allocat*'
        or path glob '*CollectedHeap*' or path glob '*ObjArrayAllocator*'))
       or (state in ('idle', 'fewer_threads', 'runnable') and share > 0
           and (select sum(b.share) from budget b where b.cell in (select cell from collector)) > 0.1)
)
select 'garbage collection' as subject, c.cell, 1.0 as part, g.slow, g.against, g.threads
    from (select cell from collector union select cell from stopped) c, grown g
-- test claims: the collector works more
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: as much as before
-- budget thread='GC Thread#' state=user slow=1 against=1
-- budget state=idle slow=3
