-- cause context-switches: threads hand off small pieces of work
-- layer: scheduling
-- page: scheduler profiles
-- needs: thread_time wait
-- specific: 4
-- says: {slow_switches} context switches per unit of work (baseline {against_switches}): threads hand off work (waits
--   in state {subject})
-- evidence: switching and waiting for the other thread per unit of work: {slow:s} (baseline {against:s})
-- evidence: mean wait: {mean:s}
-- check: pidstat -w 1; twinscope flame SLOW.twin --state pipe
-- try: hand over more at once: batches, larger messages, a ring buffer in shared memory; or do it in one thread
-- experiment: batch size
-- see: sched(7), pipe(7)
with switches as materialized (
    select sum(slow) as slow_switches, coalesce(sum(against), 0) as against_switches from total
    where metric in ('thread_time.switches_voluntary') having sum(slow) > 1.5 * coalesce(sum(against), 0)
        and sum(slow_rate) > 2000
),
-- Waits that another thread of the workload ends soon are for that thread.
mutual as materialized (
    select state, sum(slow_time) / nullif(sum(slow_count), 0) as mean, sum(slow_count - against_count) as more
        from wait_use
    where state in ('pipe', 'network', 'idle', 'other', 'lock', 'sleep')
        and waker in (select distinct comm from budget where comm is not null)
    group by state having mean < 0.0005
),
cells as materialized (
    select b.cell, b.slow, b.against from budget b
    -- Who is woken waits until who woke it is gone from that CPU.
    where ((b.state in ('idle', 'fewer_threads') and b.share > 0 and exists (select 1 from mutual where state <> 'lock')
            -- Of one run alone, where all CPUs have something to do, nothing is lost by who waits.
            and ((select is_pair from pair) or (select slow from measure where name = 'idle_cpus') > 0.2 * (select slow
                from measure where name = 'cpus'))) or (b.state = 'runnable' and b.share > 0)
                or b.state in ('pipe', 'network', 'other')) and exists (select 1 from mutual)
                and coalesce(b.request, b.what, '') not in ('fsync', 'fdatasync')
       or (b.state in ('kernel', 'user') and (b.path glob '*;schedule;*' or b.path glob '*;__schedule;*'
           or b.path glob '*try_to_wake_up*' or b.path glob '*;wake_up_*'
           or b.request in ('switch', 'futex', 'sched_yield')
           or (b.request in ('read', 'write', 'recvfrom', 'sendto', 'recvmsg', 'sendmsg', 'recv', 'send', 'readv',
               'writev') and exists (select 1 from mutual where state in ('pipe', 'network'))
               and b.path not glob '*filemap*' and b.path not glob '*;ext4*')))
)
select coalesce((select state from mutual order by more desc, state limit 1), 'the kernel') as subject, c.cell,
    1.0 as part, s.slow_switches, s.against_switches, (select min(mean) from mutual) as mean,
       sum(c.slow) over () as slow, sum(c.against) over () as against
from cells c, switches s
-- test claims: a message for each item
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- budget* state=pipe slow=3
-- budget* state=kernel request=switch slow=2
-- budget* state=idle slow=2
-- budget state=user slow=1 against=1
-- says '10 context switches per operation (baseline 2): threads hand off work (waits in state'
-- test refuses: waits that last
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=1
-- budget state=pipe slow=3
-- budget state=idle slow=2
-- test refuses: seldom
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=200
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- budget state=pipe slow=3
-- test claims: mostly through a pipe, whatever comes last in the alphabet
-- total metric=thread_time.switches_voluntary slow=10 against=2 slow_rate=20000
-- wait_use state=pipe waker=app slow_count=10 against_count=2 slow_time=0.0001
-- wait_use state=sleep waker=app slow_count=3 against_count=2 slow_time=0.0001
-- budget* state=pipe slow=3
-- says 'waits in state pipe'
