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
    -- The work of the VM thread while all others stand still, and its waits for those that do not stand still yet.
    select coalesce(sum(slow), 0) as vm, coalesce(sum(against), 0) as against_vm from budget
    where thread = 'VM Thread' and (state in ('user', 'kernel') or path glob '*;SafepointSynchronize::*')
),
collecting as (
    select coalesce(sum(slow), 0) as slow from budget
    where state in ('user', 'kernel')
      and (thread glob 'GC Thread#*' or thread glob 'G#*' or thread glob 'ParGC*' or path glob '*;VM_G1*'
           or path glob '*;VM_Gen*' or path glob '*;VM_Parallel*' or path glob '*Collect*')
),
cells as materialized (
    select cell, slow, against from budget
    where state in ('idle', 'lock', 'other', 'sleep')
          and (path glob '*;SafepointSynchronize::*' or path glob '*;SafepointMechanism::*'
               or path glob '*;ThreadSafepointState::*' or path glob '*WaitBarrier::*'
               or path glob '*process_if_requested*')
       or thread = 'VM Thread' and state in ('user', 'kernel', 'lock')
       or state in ('user', 'kernel')
          and (path glob '*;SafepointSynchronize::*' or path glob '*;VM_ThreadDump::*'
               or path glob '*;VM_GetAllStackTraces::*' or path glob '*ThreadDump*' or path glob '*;VM_Op*')
       -- Who needs a collection holds the lock of the heap until all stand still, and those who allocate wait for it.
       or state in ('idle', 'lock', 'other') and (path glob '*Heap::mem_allocate;*'
           or path glob '*;VMThread::execute;*')
       -- Others wait for those that are stopped; let go all at once, they wait behind one another.
       or state in ('idle', 'fewer_threads', 'runnable') and share > 0
          and (select vm - against_vm from vm) > 0.03 * (select slow from measure where name = 'elapsed')
)
select 'safepoints' as subject, c.cell, 1.0 as part, sum(c.slow) over () as slow, sum(c.against) over () as against,
       v.vm, v.against_vm
from cells c, vm v, collecting g where v.vm > 2 * v.against_vm and v.vm > g.slow
-- test claims: dumps of all threads
-- budget* thread='VM Thread' state=user path=;VMThread::run;VM_ThreadDump::doit; slow=2 against=0.1
-- budget* state=idle path=;Main.run;SafepointSynchronize::block; slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: the collector stops them
-- budget thread='VM Thread' state=user path=;VMThread::run; slow=2 against=0.1
-- budget thread='GC Thread#' state=user slow=5
-- budget state=idle path=;Main.run;SafepointSynchronize::block; slow=3
-- test claims: all wait for one loop without a poll
-- budget* thread='VM Thread' state=sleep path=;VMThread::run;SafepointSynchronize::begin;os::naked_short_nanosleep; slow=4
-- budget* state=lock path=;_new_instance_Java;ParallelScavengeHeap::mem_allocate;__lll_lock_wait; slow=3
-- budget thread='GC Thread#' state=user slow=1 against=1
-- budget state=user path=;Main.rank; slow=1 against=1
-- test refuses: an operation of G1
-- budget thread='VM Thread' state=user path=;VMThread::run;VM_G1Concurrent::doit; slow=2 against=0.1
-- budget state=idle path=;Main.run;SafepointSynchronize::block; slow=3
