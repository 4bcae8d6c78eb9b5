-- cause busy-wait: threads busy-wait instead of blocking
-- layer: scheduling
-- page: profiles
-- needs: thread_time sample syscall
-- specific: 6
-- says: busy waiting in {subject:fn}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: involuntary context switches per unit of work: {slow_preempted} (baseline {against_preempted})
-- evidence: threads of the workload in run-queue wait meanwhile: {waiting}
-- check: perf annotate of the function: a short loop with pause, yield or repeated loads of one address
-- try: block instead: a mutex, a condition variable, futex, epoll; spin only briefly, and only if the holder runs on
--   another CPU
-- experiment: number of threads; spin limit
-- see: https://www.realworldtech.com/forum/?threadid=189711&curpostid=189723
with preempted as (select slow as slow_preempted, coalesce(against, 0) as against_preempted from total
    where metric = 'thread_time.switches_involuntary'),
waiting as (select slow_threads as waiting from state where state = 'runnable'),
again as materialized (
    -- Calls that ask again and again for what is not there.
    select iif(call glob '*64', substr(call, 1, length(call) - 2), call) as name from syscall_use
    where (call = 'sched_yield' and slow_count > 1.5 * against_count)
        or (call in ('read', 'recvfrom', 'recvmsg', 'accept4', 'poll', 'epoll_wait', 'futex')
        and slow_errors > 0.8 * slow_count and slow_count > 3 * against_count)
       or (call in ('poll', 'epoll_wait', 'select') and slow_count > 10 * against_count and slow_count > 10
           and slow_time / slow_count < 2e-5)
),
-- Code that does little but look at one word again and again.
loads as materialized (
    select focus from budget where state = 'user' and focus is not null group by focus
    having sum(iif(path glob '*atomic*load;' or path glob '*atomic*bool;' or path glob '*atomic*compare_exchange*',
        slow, 0)) > 0.1 * sum(slow) and sum(slow) > 2 * sum(against)
),
-- Who tries once, and waits where it is taken, does not spin.
waiters as materialized (select distinct caller from budget where caller is not null
    and (state = 'lock' or request = 'futex')),
cells as materialized (
    select cell, slow, against, caller, function, request from budget
    where state = 'user' and aside = 0 and (kind = 'spin' or lower(function) glob '*spin*'
        or lower(function) glob '*busy*wait*' or lower(function) glob '*_pause*' or lower(function) glob '*yield*'
        or lower(function) glob '*cpu_relax*'
             or lower(function) glob '*backoff*' or lower(function) glob '*wait_for*'
                 or lower(function) glob '*wait_until*' or lower(function) glob '*poll*'
                 or function glob 'runtime.procyield*'
                 or ((lower(function) glob '*try_lock*' or lower(function) glob '*trylock*')
                 and coalesce(caller, '') not in (select caller from waiters))
             or lower(function) glob '*onspinwait*' or lower(function) glob '*try_pop*'
                 or lower(function) glob '*try_recv*' or lower(function) glob '*try_dequeue*'
                 or focus in (select focus from loads))
       or (state in ('user', 'kernel') and request in (select name from again))
)
select iif(c.request is null, c.function, c.request || ' asked again and again by '
    || coalesce(c.caller, '?')) as subject, c.cell, 1.0 as part,
       sum(c.slow) over (partition by iif(c.request is null, c.function, c.request)) as slow,
           sum(c.against) over (partition by iif(c.request is null, c.function, c.request)) as against,
       p.slow_preempted, p.against_preempted, w.waiting
from cells c, preempted p, waiting w
-- test claims: a loop that waits, by its machine code
-- budget* state=user function=worker kind=spin slow=5
-- budget state=user function=parse slow=1 against=1
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- says 'busy waiting in `worker()`: 5 s of CPU time per operation (baseline 0 s)'
-- test claims: the CPU is given up again and again
-- syscall_use call=sched_yield slow_count=50 against_count=1
-- budget* state=kernel request=sched_yield caller=get_job slow=3
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- says 'sched_yield asked again and again by get_job'
-- test refuses: a lock is tried once, and then waited for
-- budget state=user function=try_lock caller=Table::get slow=5
-- budget state=lock caller=Table::get slow=2
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- test refuses: more calls of poll, each of which waits
-- syscall_use call=poll slow_count=50 against_count=1 slow_time=5
-- budget state=kernel request=poll slow=2
-- total metric=thread_time.switches_involuntary slow=5 against=1
