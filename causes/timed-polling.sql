-- cause timed-polling: threads poll with a timer instead of being woken
-- layer: scheduling
-- page: profiles
-- needs: thread_time wait
-- yields: goroutine-sleep
-- says: threads sleep in {subject:fn}: {slow:s} per unit of work (baseline {against:s})
-- evidence: sleeps and timed-out waits per unit of work: {slow_count} (baseline {against_count}); {mean:s} each
-- check: strace -f -e trace=nanosleep,clock_nanosleep,poll,epoll_wait,select,futex -p PID; twinscope flame SLOW.twin
--   --state sleep
-- try: wait for the event itself: a condition variable or channel that is signalled, eventfd, epoll without a timeout;
--   shorter sleeps cost CPU time
-- try: if a batch waits to be filled, do not wait for more than can arrive: no more than there are clients, and no
--   longer than a request may take
-- experiment: parameter sleep: x0.1 x1
-- see: nanosleep(2); pthread_cond_timedwait(3)
-- tail: sleep
-- tail-says: slow requests sleep {more:s} longer, in thread {thread}
-- claims:
select coalesce(nullif(caller, ''), what, 'sleep') as subject, cell, 1.0 as part from budget where state = 'sleep'
-- tells:
with slept as materialized (
    select sum(slow_count) as slow_count, sum(against_count) as against_count,
           sum(slow_time) / nullif(sum(slow_count), 0) as mean
    from timeout_use where (comm, what) in (select comm, what from budget where state = 'sleep')
)
select coalesce(s.slow_count, w.slow_count) as slow_count, coalesce(s.against_count, w.against_count) as against_count,
       coalesce(s.mean, w.mean) as mean
from slept s,
     -- As older recordings have it.
     (select sum(slow_count) as slow_count, sum(against_count) as against_count,
             sum(slow_time) / nullif(sum(slow_count), 0) as mean from wait_use where state = 'sleep') w
-- test claims: a queue that is looked into
-- timeout_use comm=app what=hrtimer_nanosleep slow_count=40 slow_time=4
-- budget* state=sleep caller=look what=hrtimer_nanosleep slow=4
-- budget state=idle slow=1
-- says 'threads sleep in `look()`: 4 s per operation (baseline 0 s)'
-- test refuses: threads wait for work
-- budget state=idle what=futex_do_wait caller=look slow=4
