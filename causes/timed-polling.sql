-- cause timed-polling: threads sleep for a fixed time instead of being woken
-- layer: scheduling
-- needs: thread_time wait
-- specific: 5
-- says: threads sleep in {subject}: {slow:s} per unit of work, against {against:s}
-- evidence: sleeps per unit of work: {slow_count}, against {against_count}; each {mean:s}
-- check: strace -f -e trace=nanosleep,clock_nanosleep,poll,epoll_wait,select -p PID; twinscope flame SLOW.twin --state sleep
-- try: wait for the event itself: a condition variable, eventfd, futex, epoll without a timeout; shorter sleeps cost CPU time
-- experiment: length of the sleep
-- see: nanosleep(2)
with cells as materialized (select cell, slow, against, coalesce(nullif(caller, ''), what, 'sleep') as subject from budget where state = 'sleep'),
sleeps as (select sum(slow_count) as slow_count, sum(against_count) as against_count, sum(slow_time) / nullif(sum(slow_count), 0) as mean from wait_use where state = 'sleep')
select c.subject, c.cell, 1.0 as part, sum(c.slow) over (partition by c.subject) as slow, sum(c.against) over (partition by c.subject) as against, s.slow_count, s.against_count, s.mean
from cells c, sleeps s
