-- cause lock-contention: threads contend for a lock
-- layer: scheduling
-- page: locks
-- needs: thread_time lock wait
-- yields: compaction goroutine-lock heap-size ipi irq-imbalance memory-limit page-faults priority slow-clock
--   thundering-herd
-- says: threads wait for the lock {subject:lock}[[, held by thread {holder}]][[ in {holder_function:fn}]]
-- evidence: wait time per unit of work: {slow_wait:s} (baseline {against_wait:s})
-- evidence: waits per unit of work: {slow_count} (baseline {against_count}); longest {longest:s}; at most {waiters} at
--   once
-- evidence: mostly held by thread {holder}, which released it in {holder_function:fn}
-- check: twinscope flame SLOW.twin --state contended : who waits; with --reverse: in
--   which function
-- try: reduce hold time: move work, allocation, logging and system calls out of the critical section
-- try: split it: one lock per shard or per thread, a read-write lock if reads dominate, or an atomic if the data is one
--   word
-- experiment: parameter threads: x0.5 x1
-- experiment: parameter lock-shards: x1 x8
-- see: futex(2); Gregg, Systems Performance, 2nd edition, chapter 5
-- tail: lock
-- tail-says: slow requests wait {more:s} longer for a lock[[, mostly held by thread {helper}]]
-- claims:
with
-- Commands that wait for the lock of a file, as flock(1) does in scripts, and do nothing else are queued by whoever started
-- them: no threads of the workload contend there.
workers as materialized (
    select comm from thread_group group by comm having sum(slow_cpu) >= 0.01 * sum(slow_lock)
),
locked as materialized (
    select cell, lock_name from budget
    where state = 'lock' and lock_name is not null
          and (coalesce(request, '') not in ('flock', 'fcntl') or comm in (select comm from workers))
),
-- Those that matter: a machine that builds has a thousand, and each would claim a part of each cell.
grew as materialized (
    select subject, more / whole as part
    from (select subject, more, sum(more) over () as whole
          from (select lock_name as subject, sum(slow - against) as more from budget
                where cell in (select cell from locked) group by lock_name) where more > 0)
    where more > 0.005 * whole
),
-- Of system calls that are made for locks and for other things, as far as it was locks that were waited for.
futexes as materialized (
    select max(sum(iif(state = 'lock', slow_count - against_count, 0)), 0) * 1.0
           / nullif(sum(max(slow_count - against_count, 0)), 0) as locks
    from wait_use where what glob '*futex*' and state in ('lock', 'idle', 'sleep', 'other')
),
-- What is spent on the way into and out of waits belongs to the locks, and to each by its part of the waiting.
ways as materialized (
    select cell,
           has_role(own_roles, 'lock.take', 'lock.wait', 'lock.release') and not has_role(own_roles, 'condvar')
           or request = 'futex' and has_role(roles, 'lock.take', 'lock.wait', 'lock.release')
              and not has_role(roles, 'condvar') as is_lock,
           request in ('futex', 'sched_yield') or has_role(own_roles, 'futex', 'kernel.futex')
           or function glob 'runtime.procyield*' as is_futex
    from budget where state in ('user', 'kernel') and aside = 0
),
-- Where next to nothing is waited for, locks are taken more often, and are not contended.
contended as materialized (
    select ramp((select sum(slow - against) from budget where state = 'lock' and lock_name is not null)
                / max(slow - coalesce(against, 0), 1e-12), 0.005, 0.02) as part
    from measure where name = 'elapsed'
),
-- Whoever got the lock waits for a CPU, though there are as many as threads: it was woken on the CPU of who woke it.
woken as materialized (
    select max(sum(iif(state = 'lock', slow_count - against_count, 0)), 0) * 1.0
           / nullif(sum(max(slow_count - against_count, 0)), 0)
           * ramp(-(select slow from measure where name = 'threads') / (select slow from measure where name = 'cpus'),
                  -1.1, -1.0) as locks
    from wait_use
),
-- The cache line of a lock goes from CPU to CPU with it, and with the line what lies beside it: whoever has the lock
-- waits for that.
lines as materialized (
    select s.comm, s.function, min(1.0, sum(s.slow_part) * c.slow / g.growth) as part
    from sharing s
    join (select comm, sum(slow) as slow from budget where state in ('user', 'kernel') and aside = 0 group by comm) c
         on c.comm = s.comm
    join (select comm, function, sum(slow - against) as growth from budget
          where state = 'user' and aside = 0 group by comm, function having growth > 0) g
         on g.comm = s.comm and g.function = s.function
    where s.kind = 'true'
      and s.thing in (select l.thing from sharing l join budget b on b.function = l.function and b.comm = l.comm
                      where has_role(b.own_roles, 'lock.take', 'lock.wait', 'lock.release'))
    group by s.comm, s.function
)
select lock_name as subject, cell, 1.0 as part from locked
union all
select g.subject, w.cell, g.part * iif(w.is_lock, 1.0, coalesce(f.locks, 1.0)) * c.part
from ways w, grew g, futexes f, contended c where w.is_lock or w.is_futex
union all
select g.subject, b.cell, g.part * l.part * c.part
from lines l join budget b on b.comm = l.comm and b.function = l.function, grew g, contended c
where b.state = 'user' and b.aside = 0 and b.slow > b.against
  and b.cell not in (select cell from ways where is_lock or is_futex)
union all
select g.subject, b.cell, g.part * w.locks * c.part from budget b, grew g, woken w, contended c
where b.state = 'runnable' and w.locks > 0
-- tells:
with
-- What was counted of a subject is counted of all of its locks; who holds it, of that which was waited for most.
used as materialized (
    select b.subject, u.lock, u.slow_count, u.against_count, u.slow_time, u.longest, u.waiters, u.holder,
           u.holder_function
    from (select distinct lock_name as subject, lock from budget where state = 'lock' and lock is not null) b
         join lock_use u on u.lock = b.lock
),
holders as materialized (
    select subject, holder, holder_function, row_number() over (partition by subject order by slow_time desc, lock)
        as place from used where holder is not null
)
select w.subject, w.slow_wait, w.against_wait, u.slow_count, u.against_count, u.longest, u.waiters, h.holder,
       h.holder_function
from (select lock_name as subject, sum(slow) as slow_wait, sum(against) as against_wait from budget
      where state = 'lock' and lock_name is not null group by lock_name) w
     left join (select subject, sum(slow_count) as slow_count, sum(against_count) as against_count,
                       max(longest) as longest, max(waiters) as waiters from used group by subject) u
          on u.subject = w.subject
     left join holders h on h.subject = w.subject and h.place = 1
-- test claims: a lock with a name, and the way into it
-- budget* state=lock lock=table caller=get slow=5 against=1
-- budget* state=kernel request=futex path=;main;get;futex; slow=1
-- budget state=user path=;main;work; slow=1 against=1
-- lock_use lock=table slow_count=10 slow_time=5 longest=1 holder=worker holder_function=load
-- says 'threads wait for the lock table, held by thread worker in `load()`'
-- test claims: a lock without a name is called by the code that takes it
-- budget* state=lock lock='pthread mutex 0x10' caller=Cache::get lock_name='taken in Cache::get' slow=3
-- budget* state=lock lock='pthread mutex 0x20' caller=Cache::get lock_name='taken in Cache::get' slow=2 against=1
-- lock_use lock='pthread mutex 0x10' slow_count=6 against_count=0
-- lock_use lock='pthread mutex 0x20' slow_count=4 against_count=3
-- says 'threads wait for the lock taken in `Cache::get()`'
-- test claims: what whoever has the lock waits for, for it comes from another CPU with the lock
-- budget* state=lock lock=table caller=get slow=5 against=1
-- budget* state=user function=pthread_mutex_lock path=;main;pthread_mutex_lock; slow=2 against=1
-- budget* state=user function=count path=;main;count; slow=5 against=1
-- budget state=user function=parse path=;main;parse; slow=3 against=1
-- sharing kind=true thing=table comm=app function=pthread_mutex_lock slow_part=0.1 against_part=0 whole=0.5
-- sharing kind=true thing=table comm=app function=count slow_part=0.4 against_part=0 whole=0.5
-- sharing kind=true thing=other comm=app function=parse slow_part=0.2 against_part=0 whole=0.2
-- test claims: files that a program locks while it works
-- budget* state=lock lock=journal request=flock slow=5 against=1
-- budget state=user path=;main;work; slow=1 against=1
-- test refuses: commands that wait for the lock of a file and do nothing else
-- budget state=lock comm=flock thread=flock lock='taken in [flock]' request=flock slow=5 against=1
-- budget state=user path=;main;work; slow=1 against=1
-- test refuses: a lock of the kernel
-- budget state=lock lock='kernel rwsem (write)' slow=5
-- budget state=kernel request=futex slow=1
