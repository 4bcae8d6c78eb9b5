-- cause busy-wait: threads busy-wait instead of blocking
-- layer: scheduling
-- page: profiles
-- needs: thread_time sample syscall
-- yields: compaction goroutine-lock heap-size ipi memory-limit page-faults priority slow-clock thundering-herd
-- says: busy waiting in {subject:fn}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: involuntary context switches per unit of work: {slow_preempted} (baseline {against_preempted})
-- evidence: threads of the workload in run-queue wait meanwhile: {waiting}
-- check: perf annotate of the function: a short loop with pause, yield or repeated loads of one address
-- try: block instead: a mutex, a condition variable, futex, epoll; spin only briefly, and only if the holder runs on
--   another CPU
-- experiment: parameter threads: x0.5 x1
-- experiment: parameter spin-limit: x0 x1
-- see: https://www.realworldtech.com/forum/?threadid=189711&curpostid=189723
-- claims:
with
-- Calls that ask again and again for what is not there.
again as materialized (
    select call, max(iif(call = 'sched_yield', grown(slow_count, against_count, 1.3, 1.7), 0.0),
                     iif(call in ('accept', 'accept4', 'futex') or call_group(call) in ('read', 'receive', 'poll'),
                         ramp(slow_errors / slow_count, 0.7, 0.9) * grown(slow_count, against_count, 2, 4), 0.0),
                     iif(call_group(call) = 'poll', grown(slow_count, against_count, 7, 13) * ramp(slow_count, 5, 15)
                         * ramp(-slow_time / slow_count, -3e-5, -1e-5), 0.0)) as score
    from syscall_use where slow_count > 0
),
-- Code that does little but look at one word again and again.
looks as materialized (
    select focus, ramp(sum(iif(path glob '*atomic*load;' or path glob '*atomic*bool;', slow, 0)) / sum(slow), 0.07, 0.13)
           * grown(sum(slow), sum(against), 1.7, 2.3) as score
    from budget where state = 'user' and focus is not null group by focus having sum(slow) > 0
),
-- Who tries once, and waits where it is taken, does not spin.
waiters as materialized (
    select distinct caller from budget where caller is not null and (state = 'lock' or request = 'futex')
)
select coalesce(b.focus, b.function) as subject, b.cell,
       iif(b.kind = 'spin' or has_role(b.own_roles, 'spin') or lower(b.function) glob '*spin*'
           or lower(b.function) glob '*busy*wait*' or lower(b.function) glob '*backoff*'
           or has_role(b.own_roles, 'lock.try') and coalesce(b.caller, '') not in (select caller from waiters),
           1.0, l.score) as part
from budget b left join looks l on l.focus = b.focus
where b.state = 'user' and b.aside = 0 and b.request is null
union all
select b.request || ' called again and again in ' || coalesce(b.caller, '?'), b.cell, a.score
from budget b join again a on a.call = b.request where b.state in ('user', 'kernel')
-- tells:
select (select slow from total where metric = 'thread_time.switches_involuntary') as slow_preempted,
       (select coalesce(against, 0) from total where metric = 'thread_time.switches_involuntary') as against_preempted,
       (select slow_threads from state where state = 'runnable') as waiting
-- test claims: a loop that waits, by its machine code
-- budget* state=user function=worker kind=spin slow=5
-- budget state=user function=parse slow=1 against=1
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- says 'busy waiting in `worker()`: 5 s of CPU time per operation (baseline 0 s)'
-- test claims: the CPU is given up again and again
-- syscall_use call=sched_yield slow_count=50 against_count=1
-- budget* state=kernel request=sched_yield caller=get_job slow=3
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- says 'sched_yield called again and again in get_job'
-- test refuses: a lock is tried once, and then waited for
-- budget state=user function=try_lock caller=Table::get slow=5
-- budget state=lock caller=Table::get slow=2
-- total metric=thread_time.switches_involuntary slow=5 against=1
-- test refuses: more calls of poll, each of which waits
-- syscall_use call=poll slow_count=50 against_count=1 slow_time=5
-- budget state=kernel request=poll slow=2
-- total metric=thread_time.switches_involuntary slow=5 against=1
