-- cause gc: the garbage collector takes the time
-- layer: jvm
-- needs: thread_time
-- specific: 6
-- says: garbage collection takes {slow:s} per unit of work, against {against:s}
-- evidence: in threads {threads}
-- check: -Xlog:gc*, jstat -gcutil PID 1s; GODEBUG=gctrace=1
-- try: allocate less (async-profiler -e alloc), a larger young generation, another collector (-XX:+UseParallelGC for throughput, -XX:+UseZGC for pauses); Go: GOGC
-- experiment: -Xmx, -Xmn, collector
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
with collector as materialized (
    select cell, slow, against, thread from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable')
      and (thread like 'GC Thread#%' or thread like 'G#%' or thread like 'ParGC%' or thread like 'GC task%' or thread like 'Concurrent Mark%' or thread like 'Z%Driver%' or thread like 'ZWorker%' or thread like 'Shenandoah%'
           or thread = 'VM Thread' or function like 'runtime.gcBgMarkWorker%' or path like '%;runtime.gcBgMarkWorker%' or path like '%;runtime.gcAssist%' or path like '%;gc_collect_main;%' or path like '%;PyGC_Collect%'
           or path like '%;VM_G1%' or path like '%;VM_Gen%' or path like '%;VM_Parallel%' or path like '%;DefNewGeneration::%' or path like '%;GenMarkSweep::%' or path like '%;SerialHeap::%' or path like '%;GenCollectedHeap::%')
),
grown as materialized (select sum(slow) as slow, sum(against) as against, group_concat(distinct thread) as threads from collector having sum(slow) > 1.3 * sum(against)),
-- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
stopped as materialized (
    select cell from budget where (state in ('idle', 'lock', 'other') and (path like '%Safepoint%' or path like '%VM_Operation%' or path like '%VMThread::execute%' or path like '%collect%allocat%' or path like '%CollectedHeap%' or path like '%ObjArrayAllocator%'))
       or (state in ('idle', 'fewer_threads', 'runnable') and share > 0 and (select sum(b.share) from budget b where b.cell in (select cell from collector)) > 0.1)
)
select 'garbage collection' as subject, c.cell, 1.0 as part, g.slow, g.against, g.threads from (select cell from collector union select cell from stopped) c, grown g
