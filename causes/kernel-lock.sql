-- cause kernel-lock: threads contend for a kernel lock
-- layer: kernel
-- page: locks profiles
-- needs: thread_time
-- specific: 5
-- says: threads contend for a kernel lock in {subject:fn}
-- evidence: blocked or spinning per unit of work: {slow:s} (baseline {against:s})
-- check: twinscope flame SLOW.twin --state lock; in the CPU profile look for native_queued_spin_lock_slowpath,
--   osq_lock, rwsem_down_…
-- try: give threads files, directories, sockets or mappings of their own; what they share has one lock in the kernel
-- see: Documentation/locking/locktypes.rst
with cells as materialized (
    select cell, slow, against, coalesce(request, caller, 'other code') as subject
    from budget
    where (state = 'lock' and (lock glob 'kernel *' or (lock is null and path glob '*rwsem_down*')
        or path glob '*;mutex_lock;*' or path glob '*;__mutex_lock*'))
       or (state = 'kernel' and (function in ('native_queued_spin_lock_slowpath',
           'pv_native_queued_spin_lock_slowpath', '__pv_queued_spin_lock_slowpath', 'osq_lock',
           'queued_spin_lock_slowpath',
           'queued_write_lock_slowpath', 'queued_read_lock_slowpath') or path glob '*;rwsem_down*'
               or path glob '*;__mutex_lock*' or path glob '*;rwsem_optimistic_spin;*'))
)
select subject, cell, 1.0 as part, sum(slow) over (partition by subject) as slow,
    sum(against) over (partition by subject) as against from cells
-- test claims: a mutex of the kernel
-- budget* state=lock lock='kernel mutex' request=openat slow=3
-- budget* state=kernel function=osq_lock request=openat slow=1
-- budget state=lock lock='pthread mutex 0x10' slow=2
-- says 'threads contend for a kernel lock in `openat()`'
-- test refuses: the program's own lock
-- budget state=lock lock='pthread mutex 0x10' path=;main;pthread_mutex_lock;futex_wait; slow=3
