-- cause safepoints: safepoints other than for garbage collection stop the JVM
-- layer: jvm
-- page: profiles
-- needs: thread_time
-- specific: 6
-- says: threads of the JVM wait at safepoints: {slow:s} per unit of work (baseline {against:s})
-- evidence: VM thread busy for {vm:s} per unit of work (baseline {against_vm:s})
-- check: -Xlog:safepoint: total time and the operation
-- try: stop what triggers them: thread dumps (jstack, monitoring), heap walks, biased-lock revocation
--   (-XX:-UseBiasedLocking on JDK 8 to 17), deoptimisation
-- see: https://openjdk.org/groups/hotspot/docs/HotSpotGlossary.html
with vm as materialized (
    select coalesce(sum(slow), 0) as vm, coalesce(sum(against), 0) as against_vm from budget where thread = 'VM Thread' and state in ('user', 'kernel')
),
collecting as (select coalesce(sum(slow), 0) as slow from budget where (thread glob 'GC Thread#*' or thread glob 'G#*' or thread glob 'ParGC*' or path glob '*;VM_G1*' or path glob '*;VM_Gen*' or path glob '*;VM_Parallel*' or path glob '*Collect*') and state in ('user', 'kernel')),
cells as materialized (
    select cell, slow, against from budget
    where (state in ('idle', 'lock', 'other', 'sleep') and (path glob '*SafepointSynchronize*' or path glob '*SafepointMechanism*' or path glob '*ThreadSafepointState*' or path glob '*WaitBarrier*' or path glob '*LinuxWaitBarrier*' or path glob '*process_if_requested*'))
       or (thread = 'VM Thread' and state in ('user', 'kernel', 'lock')) or (state in ('user', 'kernel') and (path glob '*SafepointSynchronize*' or path glob '*VM_ThreadDump*' or path glob '*VM_GetAllStackTraces*' or path glob '*ThreadDump*' or path glob '*VM_Op*'))
       -- Others wait for those that are stopped; let go all at once, they wait behind one another.
       or (state in ('idle', 'fewer_threads', 'runnable') and share > 0 and (select vm - against_vm from vm) > 0.03 * (select slow from measure where name = 'elapsed'))
)
select 'safepoints' as subject, c.cell, 1.0 as part, sum(c.slow) over () as slow, sum(c.against) over () as against, v.vm, v.against_vm
from cells c, vm v, collecting g where v.vm > 2 * v.against_vm and v.vm > g.slow
