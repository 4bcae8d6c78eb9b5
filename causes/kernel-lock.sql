-- cause kernel-lock: threads contend for a kernel lock
-- layer: kernel
-- page: locks profiles
-- needs: thread_time
-- yields: busy-wait gc lock-contention memory-reclaim safepoints sync-writes timers
-- says: threads contend for a kernel lock in {subject:fn}
-- evidence: blocked or spinning per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state lock; in the CPU profile look for native_queued_spin_lock_slowpath,
--   osq_lock, rwsem_down_…
-- try: give threads files, directories, sockets or mappings of their own; what they share has one lock in the kernel
-- see: Documentation/locking/locktypes.rst
-- claims:
select coalesce(request, caller, 'other code') as subject, cell, 1.0 as part from budget
where state = 'lock' and (lock glob 'kernel *' or has_role(roles, 'kernel.lock'))
   or state = 'kernel' and has_role(roles, 'kernel.lock')
-- test claims: a mutex of the kernel
-- budget* state=lock lock='kernel mutex' request=openat slow=3
-- budget* state=kernel function=osq_lock request=openat slow=1
-- budget state=lock lock='pthread mutex 0x10' slow=2
-- says 'threads contend for a kernel lock in `openat()`'
-- test refuses: the program's own lock
-- budget state=lock lock='pthread mutex 0x10' path=;main;pthread_mutex_lock;futex_wait; slow=3
