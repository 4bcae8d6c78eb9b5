-- cause timed-polling: threads poll with a timer instead of being woken
-- layer: scheduling
-- page: profiles
-- needs: thread_time wait
-- specific: 5
-- says: {who} sleep in {subject:fn}: {slow:s} per unit of work (baseline {against:s})
-- evidence: sleeps and timed-out waits per unit of work: {slow_count} (baseline {against_count}); {mean:s} each
-- evidence: seen in the memory of the Go program: {goroutines} goroutines asleep on average (baseline
--   {against_goroutines})
-- check: strace -f -e trace=nanosleep,clock_nanosleep,poll,epoll_wait,select,futex -p PID; twinscope flame SLOW.twin
--   --state sleep (goroutines: --state goroutines)
-- try: wait for the event itself: a condition variable or channel that is signalled, eventfd, epoll without a timeout;
--   shorter sleeps cost CPU time
-- try: if a batch waits to be filled, do not wait for more than can arrive: no more than there are clients, and no
--   longer than a request may take
-- experiment: sleep time
-- see: nanosleep(2); pthread_cond_timedwait(3)
with
cells as materialized (select cell, comm, what, slow, against, coalesce(nullif(caller, ''), what, 'sleep') as subject
    from budget where state = 'sleep'),
slept as materialized (
    select sum(slow_count) as slow_count, sum(against_count) as against_count,
        sum(slow_time) / nullif(sum(slow_count), 0) as mean from timeout_use
    where (comm, what) in (select comm, what from cells)
),
-- As older recordings have it.
sleeps as materialized (select sum(slow_count) as slow_count, sum(against_count) as against_count,
    sum(slow_time) / nullif(sum(slow_count), 0) as mean from wait_use where state = 'sleep'),
counts as materialized (
    select coalesce(t.slow_count, s.slow_count) as slow_count,
        coalesce(t.against_count, s.against_count) as against_count, coalesce(t.mean, s.mean) as mean from slept t,
        sleeps s
),
-- Goroutines that sleep leave their threads without work. Some always do; where more of them do than before, CPUs that
-- have nothing to do wait for those.
go as materialized (
    select function, sum(slow_time) as slow, sum(against_time) as against, sum(slow_number) as number,
        sum(against_number) as against_number
    from goroutine_use where reason = 'sleep' and function is not null group by function
        having sum(slow_number) > sum(against_number) + 0.2
),
more as materialized (
    select sum(number - against_number) as more, (select max(slow - coalesce(against, 0), 0.1) from measure
        where name = 'idle_cpus') as idle from go
),
goes as materialized (
    select b.cell, g.function as subject, (g.number - g.against_number) / m.more * min(m.more / m.idle, 1.0) as part,
        g.slow, g.against, g.number, g.against_number
    from budget b, go g, more m
    -- Of one run alone, as many as would keep the CPUs busy.
    where (m.more > 0.8 * m.idle or (select is_pair from pair))
      and ((b.state in ('idle', 'fewer_threads') and b.share > 0)
           or b.path glob '*;runtime.findRunnable*' or b.path glob '*;runtime.mcall*'
               or b.path glob '*;runtime.schedule*' or b.path glob '*;time.Sleep;*')
)
select c.subject, c.cell, 1.0 as part, sum(c.slow) over (partition by c.subject) as slow,
    sum(c.against) over (partition by c.subject) as against, s.slow_count, s.against_count, s.mean,
       null as goroutines, null as against_goroutines, 'threads' as who
from cells c, counts s
union all
select subject, cell, part, slow, against, null, null, null, number, against_number, 'goroutines' from goes
-- test claims: a queue that is looked into
-- timeout_use comm=app what=hrtimer_nanosleep slow_count=40 slow_time=4
-- budget* state=sleep caller=look what=hrtimer_nanosleep slow=4
-- budget state=idle slow=1
-- says 'threads sleep in `look()`: 4 s per operation (baseline 0 s)'
-- test claims: goroutines that try again after a while
-- goroutine_use reason=sleep function=retry slow_time=4 against_time=0 slow_number=3 against_number=0
-- measure name=idle_cpus slow=1 against=0
-- budget* state=idle slow=4
-- budget state=user path=;main.main; slow=1 against=1
-- says 'goroutines sleep in `retry()`: 4 s per operation (baseline 0 s)'
-- test refuses: threads wait for work
-- budget state=idle what=futex_do_wait caller=look slow=4
-- test refuses: as many goroutines as before sleep
-- goroutine_use reason=sleep function=retry slow_time=4 slow_number=3 against_number=3
-- measure name=idle_cpus slow=1 against=0
-- budget state=idle slow=4
