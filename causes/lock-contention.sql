-- cause lock-contention: threads contend for a lock
-- layer: scheduling
-- page: locks
-- needs: thread_time lock wait
-- specific: 6
-- says: {who} wait for the lock {subject:lock}[[, held by thread {holder}]][[ in {holder_function:fn}]]
-- evidence: wait time per unit of work: {slow_wait:s} (baseline {against_wait:s})
-- evidence: waits per unit of work: {slow_count} (baseline {against_count}); longest {longest:s}; at most {waiters} at
--   once
-- evidence: seen in the memory of the Go program: at most {goroutines} goroutines waited at once
-- evidence: mostly held by thread {holder}, which released it in {holder_function:fn}
-- check: twinscope flame SLOW.twin --state contended (goroutines: --state goroutines): who waits; with --reverse: in
--   which function
-- try: reduce hold time: move work, allocation, logging and system calls out of the critical section
-- try: split it: one lock per shard or per thread, a read-write lock if reads dominate, or an atomic if the data is one
--   word
-- experiment: number of threads; number of shards of the lock
-- see: futex(2); Gregg, Systems Performance, 2nd edition, chapter 5
with
-- A lock of java.util.concurrent is known by the code that takes it only, and of that not all can be seen: what is
-- little or not known goes with the most.
java as materialized (
    select comm, nullif(caller, '') as caller, sum(slow) as slow
    from budget where state = 'lock' and path glob '*;Parker::park;*' group by 1, 2
),
java_mostly as materialized (select comm, caller, max(slow) as slow from java where caller is not null group by comm),
java_called as materialized (
    select j.comm as comm, j.caller as caller,
           coalesce('taken in ' || iif(j.slow > 0.25 * (select sum(slow) from java a where a.comm = j.comm),
                                       coalesce(j.caller, m.caller), m.caller),
                    'java.util.concurrent') as subject
    from java j left join java_mostly m on m.comm = j.comm
),
-- A lock without a name is called by the code that waits for it: addresses differ from run to run.
waits as materialized (
    select b.cell, b.slow, b.against, b.lock,
           coalesce(j.subject,
                    iif(coalesce(b.lock, '0x') glob '*0x*' or b.lock glob '* [?]',
                        coalesce('taken in ' || nullif(b.caller, ''), b.lock, 'without a name'), b.lock)) as subject
    from budget b left join java_called j
         on b.path glob '*;Parker::park;*' and j.comm = b.comm and j.caller is nullif(b.caller, '')
    where b.state = 'lock' and coalesce(b.lock, '') not glob 'kernel *'
),
total as materialized (select subject, sum(slow) as slow, sum(against) as against from waits group by subject),
-- What was counted of a subject is counted of all of its locks; who holds it, of that which was waited for most.
used as materialized (
    select w.subject, sum(u.slow_count) as slow_count, sum(u.against_count) as against_count, max(u.longest) as longest,
           max(u.waiters) as waiters
    from (select distinct subject, lock from waits where lock is not null) w join lock_use u on u.lock = w.lock
    group by w.subject
),
holders as materialized (
    select w.subject, u.holder, u.holder_function,
           row_number() over (partition by w.subject order by u.slow_time desc, u.lock) as place
    from (select distinct subject, lock from waits where lock is not null) w join lock_use u on u.lock = w.lock
    where u.holder is not null
),
-- Goroutines that wait for a sync.Mutex leave their threads without work: they were seen waiting, or the way into and
-- out of the wait is busy.
seen as materialized (
    select coalesce('taken in ' || function, 'sync.Mutex') as subject, sum(slow_time) as slow,
           sum(against_time) as against, max(most) as waiters
    from goroutine_use where reason in ('sync.Mutex.Lock', 'sync.RWMutex.RLock', 'sync.RWMutex.Lock')
    group by 1 having sum(slow_time) > sum(against_time)
),
seen_part as materialized (
    select s.subject, s.slow, s.against, s.waiters, (s.slow - s.against) / w.grown as part,
           min(w.grown / i.grown, 1.0) as of_idle
    from seen s, (select sum(slow - against) as grown from seen) w,
         (select max(slow - against, 1e-9) as grown from state where state = 'idle') i
    where w.grown > 0.1 * i.grown
),
go as materialized (
    select sum(slow) as slow, sum(against) as against from budget
    where state in ('user', 'kernel')
      and (path glob '*;sync.([*]Mutex)*' or path glob '*;sync.([*]RWMutex)*'
           or path glob '*;runtime.semacquire*' or path glob '*;runtime.semrelease*')
),
goes as materialized (
    select b.cell,
           coalesce(s.subject,
                    (select caller from budget where path glob '*;sync.([*]Mutex)*'
                     group by caller order by sum(slow) desc limit 1),
                    'sync.Mutex') as subject,
           coalesce(s.part, 1.0) * iif(b.state in ('user', 'kernel'), 1.0, coalesce(s.of_idle, 1.0)) as part
    from budget b, go left join seen_part s
    where (s.part is not null or go.slow > 2 * go.against
           and go.slow > 0.03 * (select sum(slow) from state where state in ('user', 'kernel')))
      and (b.path glob '*;sync.([*]Mutex)*' or b.path glob '*;sync.([*]RWMutex)*' or b.path glob '*;runtime.sem*'
           or b.path glob '*;runtime.findRunnable*' or b.path glob '*;runtime.mcall*'
           or b.path glob '*;runtime.schedule*' or (b.state in ('idle', 'fewer_threads') and b.share > 0))
),
whole as materialized (select sum(max(slow - against, 0)) as grown from total),
-- Those that matter: a machine that builds has a thousand, and each would claim a part of each cell.
grew as materialized (
    select t.subject, (t.slow - t.against) / w.grown as part from total t, whole w
    where t.slow - t.against > 0.005 * w.grown
),
-- What is spent on the way into and out of waits belongs to the locks, and to each by its part of the waiting. Of
-- system calls that are made for locks and for other things, as far as it was locks that were waited for.
futexes as materialized (
    select max(sum(iif(state = 'lock', slow_count - against_count, 0)), 0) * 1.0
           / nullif(sum(max(slow_count - against_count, 0)), 0) as locks
    from wait_use where what glob '*futex*' and state in ('lock', 'idle', 'sleep', 'other')
),
code as materialized (
    -- A condition variable of glibc has a lock of its own.
    select cell,
           path glob '*;__condvar_acquire_lock;*' or path glob '*;__condvar_release_lock;*'
           or path not glob '*pthread_cond*'
              and (path glob '*pthread_mutex_*lock*' or path glob '*;__lll_*lock*' or path glob '*utex*::lock*'
                   or path glob '*;runtime.lock*' or path glob '*;runtime.unlock*' or path glob '*;ObjectMonitor::*'
                   or path glob '*;ObjectSynchronizer::*' or path glob '*;sync.([*]Mutex)*') as is_lock
    from budget
    where state in ('user', 'kernel') and aside = 0
),
way as materialized (
    select b.cell, g.subject, g.part * iif(o.is_lock, 1.0, coalesce(f.locks, 1.0)) as part
    from budget b join code o on o.cell = b.cell, grew g, futexes f
    where (o.is_lock or b.request in ('futex', 'sched_yield') or b.path glob '*;futex_wa*'
           or b.function glob 'runtime.futex*' or b.function glob 'runtime.procyield*')
),
-- Whoever got the lock waits for a CPU, though there are as many as threads: it was woken on the CPU of who woke it.
woken as materialized (
    select max(sum(iif(state = 'lock', slow_count - against_count, 0)), 0) * 1.0
           / nullif(sum(max(slow_count - against_count, 0)), 0) as locks
    from wait_use
    where (select slow from measure where name = 'threads') < 1.05 * (select slow from measure where name = 'cpus')
),
behind as (
    select b.cell, g.subject, g.part * w.locks as part
    from budget b, grew g, woken w where b.state = 'runnable' and w.locks > 0
),
claims as (
    select cell, subject, 1.0 as part from waits
    union all select cell, subject, part from way where cell not in (select cell from goes)
    union all select cell, subject, part from goes
    union all select cell, subject, part from behind
)
select c.subject, c.cell, c.part, coalesce(t.slow, s.slow) as slow_wait, coalesce(t.against, s.against) as against_wait,
       u.slow_count, u.against_count, u.longest, u.waiters, s.waiters as goroutines,
       iif(s.subject is null, 'threads', 'goroutines') as who, h.holder, h.holder_function
from claims c left join total t on t.subject = c.subject left join used u on u.subject = c.subject
     left join holders h on h.subject = c.subject and h.place = 1 left join seen s on s.subject = c.subject
-- test claims: a lock with a name, and the way into it
-- budget* state=lock lock=table caller=get slow=5 against=1
-- budget* state=kernel request=futex path=;main;get;futex; slow=1
-- budget state=user path=;main;work; slow=1 against=1
-- lock_use lock=table slow_count=10 slow_time=5 longest=1 holder=worker holder_function=load
-- says 'threads wait for the lock table, held by thread worker in `load()`'
-- test claims: a lock without a name is called by the code that takes it
-- budget* state=lock lock='pthread mutex 0x10' caller=Cache::get slow=3
-- budget* state=lock lock='pthread mutex 0x20' caller=Cache::get slow=2 against=1
-- lock_use lock='pthread mutex 0x10' slow_count=6 against_count=0
-- lock_use lock='pthread mutex 0x20' slow_count=4 against_count=3
-- says 'threads wait for the lock taken in `Cache::get()`'
-- test claims: goroutines wait for it
-- goroutine_use reason=sync.Mutex.Lock function=Table.Get slow_time=8 against_time=1 slow_number=8 against_number=1 most=9
-- budget* state=idle slow=6 against=1
-- budget state=user path=;main.main; slow=1 against=1
-- says 'goroutines wait for the lock taken in `Table.Get()`'
-- test refuses: a lock of the kernel
-- budget state=lock lock='kernel rwsem (write)' slow=5
-- budget state=kernel request=futex slow=1
-- test refuses: goroutines wait for messages
-- goroutine_use reason='chan receive' function=Table.Get slow_time=8 against_time=1 slow_number=8 against_number=1
-- budget state=idle slow=6 against=1
