-- cause thundering-herd: many threads are woken for one piece of work
-- layer: scheduling
-- page: scheduler profiles
-- needs: thread_time wait syscall
-- specific: 7
-- says: {slow_wakeups} threads are woken per unit of work (baseline {against_wakeups}): most find nothing to do
-- evidence: waking them and contention for the lock or queue per unit of work: {slow:s} (baseline {against:s})
-- evidence: woken at once in {subject:fn}
-- check: pidstat -wt 1: many voluntary switches in all workers at once; strace shows EAGAIN or a futex wait soon after
--   each wake-up
-- try: wake one thread: pthread_cond_signal, notify, EPOLLEXCLUSIVE, SO_REUSEPORT, accept_mutex; a queue per thread
-- see: epoll_ctl(2) (EPOLLEXCLUSIVE), pthread_cond_signal(3)
with woken as materialized (
    select slow as slow_wakeups, coalesce(against, 0) as against_wakeups from total
        where metric = 'thread_time.wakeups' and slow > 2.5 * coalesce(against, 0) and slow > 2
),
-- Woken from a wait for work, only to wait for the lock that guards it, or for work again.
herd as materialized (
    select sum(slow - against) as lost from budget where state = 'lock'
        and (path glob '*cond_wait*' or path glob '*cond_timedwait*' or path glob '*cond_lock*'
        or path glob '*Object.wait*' or path glob '*ConditionObject*')
      -- Locks that are made of condition variables.
      and path not glob '*;take_gil;*' and path not glob '*;ObjectMonitor::EnterI;*'
          and path not glob '*;ObjectMonitor::enter*'
          and (path not glob '*;Parker::park;*' or path glob '*ConditionObject*')
),
-- Who reads until there is nothing more is told so once for each piece of work; only more of that than before says
-- something.
again as (
    select sum(slow_errors) as slow, sum(against_errors) as against from syscall_use
    where call in ('accept', 'accept4') or (call in ('read', 'recvfrom', 'recvmsg') and (select is_pair from pair))
),
cells as materialized (
    select b.cell, b.slow, b.against from budget b, herd, again
    where (coalesce(herd.lost, 0) > 0.2 * (select slow - against from state where state = 'lock') and herd.lost > 0
        or (again.slow > 1 and again.slow > 3 * again.against))
      and ((b.state = 'lock' and b.path glob '*cond*') or (b.state = 'lock' and coalesce(herd.lost, 0) > 0)
           or (b.state in ('kernel', 'user') and (b.request in ('futex', 'epoll_wait', 'epoll_pwait', 'accept',
               'accept4', 'poll', 'select', 'switch') or b.path glob '*cond_*' or b.path glob '*try_to_wake_up*'
               or b.path glob '*;schedule;*'
               or b.function glob '*lll_lock*' or b.function glob '*pthread_mutex*'))
           or (b.state = 'idle' and b.share > 0))
)
select coalesce((select caller from budget where state = 'lock' and path glob '*cond*'
    order by slow - against desc limit 1), 'the kernel') as subject, c.cell, 1.0 as part, w.slow_wakeups,
    w.against_wakeups,
       sum(c.slow) over () as slow, sum(c.against) over () as against
from cells c, woken w
-- test claims: all are woken for one
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
