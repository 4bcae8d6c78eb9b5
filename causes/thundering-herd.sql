-- cause thundering-herd: many threads are woken for one piece of work
-- layer: scheduling
-- page: scheduler profiles
-- needs: thread_time wait syscall
-- yields: explicit-gc listen-overflow mm-lock process-creation swap tlb-shootdown
-- says: {slow_wakeups} threads are woken per unit of work (baseline {against_wakeups}): most find nothing to do
-- evidence: waking them and contention for the lock or queue per unit of work: {slow:s} (baseline {against:s})
-- evidence: woken at once in {subject:fn}
-- check: pidstat -wt 1: many voluntary switches in all workers at once; strace shows EAGAIN or a futex wait soon after
--   each wake-up
-- try: wake one thread: pthread_cond_signal, notify, EPOLLEXCLUSIVE, SO_REUSEPORT, accept_mutex; a queue per thread
-- see: epoll_ctl(2) (EPOLLEXCLUSIVE), pthread_cond_signal(3)
-- when:
with
-- Woken from a wait for work, only to wait for the lock that guards it, or for work again.
herd as materialized (
    select coalesce(sum(slow - against), 0) as lost from budget
    where state = 'lock' and has_role(roles, 'condvar')
      -- Locks that are made of condition variables.
      and path not glob '*;take_gil;*' and path not glob '*;ObjectMonitor::EnterI;*'
      and path not glob '*;ObjectMonitor::enter*'
      and (path not glob '*;Parker::park;*' or path glob '*ConditionObject*')
),
-- Who wakes all with one call makes fewer calls than there are waits; who wakes one for each piece of work makes one for
-- each wait, beside that of the wait itself.
calls as (
    select ramp(-c.slow_count / nullif(sum(w.slow_count), 0), -1.9, -1.7) as at_once
    from syscall_use c, wait_use w where c.call = 'futex' and w.what glob '*futex*'
),
-- Who reads until there is nothing more is told so once for each piece of work; only more of that than before says
-- something.
again as (
    select sum(slow_errors) as slow, sum(against_errors) as against from syscall_use, pair
    where call in ('accept', 'accept4') or is_pair and call_group(call) in ('read', 'receive')
)
select grown(w.slow, w.against, 2.2, 2.8) * ramp(w.slow, 1.5, 2.5)
       * max(ramp(h.lost / nullif((select max(slow - against, 0) from state where state = 'lock'), 0), 0.15, 0.25)
                 * coalesce((select at_once from calls), 0),
             ramp(a.slow, 0.7, 1.3) * grown(a.slow, a.against, 2.5, 3.5)) as score,
       w.slow as slow_wakeups, coalesce(w.against, 0) as against_wakeups, h.lost > 0 as by_condvar
from total w, herd h, again a where w.metric = 'thread_time.wakeups'
-- claims:
select coalesce((select caller from budget where state = 'lock' and has_role(roles, 'condvar')
                 order by slow - against desc limit 1), 'the kernel') as subject, cell, 1.0 as part
from budget, given
where state = 'lock' and (has_role(roles, 'condvar') or by_condvar)
   or state in ('kernel', 'user')
      and (request in ('futex', 'accept', 'accept4', 'switch') or call_group(request) = 'poll'
           or has_role(roles, 'condvar', 'kernel.wake', 'kernel.switch')
           or has_role(own_roles, 'lock.take', 'lock.wait', 'lock.release'))
   or state = 'idle' and share > 0
-- test claims: all are woken for one
-- syscall_use call=futex slow_count=50 against_count=20
-- wait_use state=idle what=futex_do_wait slow_count=40 against_count=10
-- total metric=thread_time.wakeups slow=10 against=1
-- budget* state=lock path=;work;pthread_cond_wait;__lll_lock_wait; caller=take slow=4
-- budget* state=kernel request=futex slow=1
-- budget state=user path=;work; slow=1 against=1
-- test refuses: a lock that is made of a condition
-- total metric=thread_time.wakeups slow=10 against=1
-- budget state=lock path=;take_gil;pthread_cond_timedwait; slow=4
-- test refuses: hardly more are woken
-- total metric=thread_time.wakeups slow=2 against=1
-- budget state=lock path=;work;pthread_cond_wait;__lll_lock_wait; caller=take slow=4
