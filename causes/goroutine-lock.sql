-- cause goroutine-lock: goroutines contend for a lock
-- layer: scheduling
-- page: profiles locks
-- needs: thread_time goroutine_wait
-- yields: explicit-gc listen-overflow process-creation tlb-shootdown
-- says: goroutines wait for the lock {subject:lock}
-- evidence: wait time of goroutines per unit of work: {slow_wait:s} (baseline {against_wait:s}), seen in the memory of
--   the program
-- evidence: at most {most} goroutines waited at once
-- check: twinscope flame SLOW.twin --state goroutines; go tool pprof of /debug/pprof/mutex
-- try: reduce hold time: move work, allocation, logging and system calls out of the critical section
-- try: split it: one lock per shard, a read-write lock if reads dominate, or an atomic if the data is one word
-- experiment: parameter goroutines: x0.5 x1
-- experiment: parameter lock-shards: x1 x8
-- see: https://pkg.go.dev/sync#Mutex; https://go.dev/doc/diagnostics
-- when:
with
seen as materialized (
    select sum(slow_time - against_time) as more from goroutine_use
    where reason in ('sync.Mutex.Lock', 'sync.RWMutex.RLock', 'sync.RWMutex.Lock') and slow_time > against_time
),
code as materialized (
    select sum(slow) as slow, sum(against) as against from budget
    where state in ('user', 'kernel') and (path glob '*;sync.([*]Mutex)*' or path glob '*;sync.([*]RWMutex)*'
                                           or path glob '*;runtime.sem*')
)
-- They were seen waiting, or the way into and out of the wait is busy.
select max(ramp(seen.more / idle.more, 0.07, 0.13),
           grown(code.slow, code.against, 1.6, 2.4) * ramp(code.slow / cpu.slow, 0.02, 0.04)) as score,
       iif(seen.more > 0.07 * idle.more, seen.more, null) as seen,
       iif(seen.more > 0.07 * idle.more, min(seen.more / idle.more, 1.0), 1.0) as of_idle
from seen, code, (select max(slow - against, 1e-9) as more from state where state = 'idle') idle,
     (select max(sum(slow), 1e-9) as slow from state where state in ('user', 'kernel')) cpu
-- claims:
with locks as materialized (
    select coalesce('taken in ' || function, 'sync.Mutex') as subject, sum(slow_time - against_time) / seen as part
    from goroutine_use, given
    where reason in ('sync.Mutex.Lock', 'sync.RWMutex.RLock', 'sync.RWMutex.Lock') and slow_time > against_time
      and seen is not null
    group by function
    union all
    select coalesce((select 'taken in ' || caller from budget where path glob '*;sync.([*]Mutex)*' and caller is not null
                     group by caller order by sum(slow) desc limit 1), 'sync.Mutex'), 1.0 from given where seen is null
)
select l.subject, b.cell, l.part * iif(b.state in ('user', 'kernel'), 1.0, of_idle) as part
from budget b, locks l, given
where b.state in ('user', 'kernel', 'idle', 'lock')
      and (b.path glob '*;sync.([*]Mutex)*' or b.path glob '*;sync.([*]RWMutex)*' or b.path glob '*;runtime.sem*'
           or has_role(b.roles, 'scheduler'))
   or b.state in ('idle', 'fewer_threads') and b.share > 0
-- tells:
select coalesce('taken in ' || function, 'sync.Mutex') as subject, sum(slow_time) as slow_wait,
       sum(against_time) as against_wait, max(most) as most
from goroutine_use where reason in ('sync.Mutex.Lock', 'sync.RWMutex.RLock', 'sync.RWMutex.Lock') group by function
-- test claims: goroutines wait for it
-- goroutine_use reason=sync.Mutex.Lock function=Table.Get slow_time=8 against_time=1 slow_number=8 against_number=1 most=9
-- budget* state=idle slow=6 against=1
-- budget state=user path=;main.main; slow=1 against=1
-- says 'goroutines wait for the lock taken in `Table.Get()`'
-- test refuses: goroutines wait for messages
-- goroutine_use reason='chan receive' function=Table.Get slow_time=8 against_time=1 slow_number=8 against_number=1
-- budget state=idle slow=6 against=1
