-- cause safepoints: all threads of the JVM are stopped, and not for garbage collection
-- layer: jvm
-- needs: thread_time
-- specific: 6
-- says: threads of the JVM wait at safepoints: {slow:s} per unit of work, against {against:s}
-- evidence: the VM thread worked for {vm:s} per unit of work, against {against_vm:s}
-- check: -Xlog:safepoint: total time and the operation
-- try: stop what asks for them: thread dumps (jstack, monitoring), heap walks, revoked biased locks (-XX:-UseBiasedLocking on JDK 8 to 17), deoptimisation
-- see: https://openjdk.org/groups/hotspot/docs/HotSpotGlossary.html
with vm as materialized (
    select coalesce(sum(slow), 0) as vm, coalesce(sum(against), 0) as against_vm from budget where thread = 'VM Thread' and state in ('user', 'kernel')
),
collecting as (select coalesce(sum(slow), 0) as slow from budget where (thread like 'GC Thread#%' or thread like 'G#%' or thread like 'ParGC%' or path like '%VM_G#%' or path like '%Collect%') and state in ('user', 'kernel')),
cells as materialized (
    select cell, slow, against from budget
    where (state in ('idle', 'lock', 'other', 'sleep') and (path like '%SafepointSynchronize%' or path like '%SafepointMechanism%' or path like '%ThreadSafepointState%' or path like '%WaitBarrier%' or path like '%LinuxWaitBarrier%' or path like '%process_if_requested%'))
       or (thread = 'VM Thread' and state in ('user', 'kernel', 'lock')) or (state in ('user', 'kernel') and (path like '%SafepointSynchronize%' or path like '%VM_ThreadDump%' or path like '%VM_GetAllStackTraces%' or path like '%ThreadDump%' or path like '%VM_Op%'))
       -- Others wait for those that are stopped; let go all at once, they wait behind one another.
       or (state in ('idle', 'fewer_threads', 'runnable') and share > 0 and (select vm - against_vm from vm) > 0.03 * (select slow from measure where name = 'elapsed'))
)
select 'safepoints' as subject, c.cell, 1.0 as part, sum(c.slow) over () as slow, sum(c.against) over () as against, v.vm, v.against_vm
from cells c, vm v, collecting g where v.vm > 2 * v.against_vm and v.vm > g.slow
