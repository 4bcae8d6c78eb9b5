-- cause safepoints: safepoints other than for garbage collection stop the JVM
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time
-- yields: goroutine-lock heap-size ipi irq-imbalance memory-limit nagle page-faults priority slow-clock thundering-herd
-- says: threads of the JVM wait at safepoints: {slow:s} per unit of work (baseline {against:s})
-- evidence: {times:1/s} operations {operation} stop all Java threads {stopped:ratio} of the time
-- evidence: VM thread busy for {vm:s} per unit of work (baseline {against_vm:s})
-- check: -Xlog:safepoint: total time and the operation
-- try: stop what triggers them: thread dumps (jstack, monitoring), heap walks, biased-lock revocation
--   (-XX:-UseBiasedLocking on JDK 8 to 17), deoptimisation
-- see: https://openjdk.org/groups/hotspot/docs/HotSpotGlossary.html
-- when:
-- The work of the VM thread while all others stand still, and its waits for those that do not stand still yet; where
-- pauses were recorded, those that are of no collection.
with stops as materialized (
    select count(*) as told,
           coalesce(sum(iif(side = 'slow' and kind = 'operation', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against' and kind = 'operation', time * per_unit, 0)), 0) / 1e9 as against
    from w_jvm_pause
),
vm as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against from budget
    where thread = 'VM Thread' and (state in ('user', 'kernel') or path glob '*;SafepointSynchronize::*')
),
collector as materialized (
    select coalesce(sum(slow), 0) as slow from budget
    where state in ('user', 'kernel') and has_role(roles, 'gc.work')
      and (thread <> 'VM Thread' or path glob '*;VM_G1*' or path glob '*;VM_Gen*' or path glob '*;VM_Parallel*'
           or path glob '*Collect*')
)
select iif(s.told > 0, grown(s.slow, s.against, 1.6, 2.4) * ramp((s.slow - s.against) / e.slow, 0.01, 0.03),
           grown(v.slow, v.against, 1.6, 2.4) * ramp(coalesce(v.slow / nullif(c.slow, 0), 1e9), 1.0, 1.4)) as score,
       v.slow as vm, v.against as against_vm,
       ramp((v.slow - v.against) / e.slow, 0.02, 0.04) as of_waits
from stops s, vm v, collector c, (select slow from measure where name = 'elapsed') e
-- claims:
select 'safepoints' as subject, cell, iif(state in ('idle', 'fewer_threads', 'runnable')
                                          and not has_role(roles, 'safepoint', 'gc.stop'), of_waits, 1.0) as part
from budget, given
where state in ('idle', 'lock', 'other', 'sleep') and has_role(roles, 'safepoint')
   or thread = 'VM Thread' and state in ('user', 'kernel', 'lock')
   or state in ('user', 'kernel') and has_role(roles, 'safepoint', 'vm.operation')
      -- Who needs a collection holds the lock of the heap until all stand still, and those who allocate wait for it.
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop')
      -- Others wait for those that are stopped; let go all at once, they wait behind one another.
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- tells:
select operation, sum(together * per_second) as times, sum(time * per_second) / 1e9 as stopped
from w_jvm_pause where side = 'slow' and kind = 'operation' and operation is not null
group by operation order by sum(time) desc limit 1
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
-- test claims: heap walks, by their operation
-- budget* thread='VM Thread' state=user path=;VMThread::run;VM_GC_HeapInspection::doit; slow=2 against=0.1
-- budget state=user path=;Main.run; slow=1 against=1
-- w_jvm_pause side=slow kind=operation operation=ThreadDump time=2000000000 per_unit=1 per_second=0.5 together=4
-- says 'threads of the JVM wait at safepoints'
-- test refuses: nearly all pauses are collections
-- budget thread='VM Thread' state=user path=;VMThread::run; slow=2 against=0.1
-- w_jvm_pause side=slow kind=young cause='Allocation Failure' time=2000000000 per_unit=1 per_second=0.5 together=4
-- w_jvm_pause side=slow kind=operation operation=Cleanup time=1000 per_unit=1 per_second=0.5 together=1
