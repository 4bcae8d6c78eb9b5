-- cause true-sharing: threads write the same data again and again
-- layer: code
-- page: sharing profiles
-- needs: thread_time sample sharing_access sharing_look
-- yields: lock-contention
-- before: busy-wait
-- says: threads write and read the same data again and again, {subject}[[ ({fields})]], in {function:fn}
-- evidence: sampled: waiting for that line takes {whole:%} of the CPU time of {comm}
-- evidence: estimated: without it that code were {speedup} times as fast
-- evidence: {seen}
-- evidence: {note}
-- check: twinscope sharing SLOW.twin; for watchpoints: twinscope record --sharing, or perf c2c where there are counters
-- try: count or collect per thread, and put together now and then; take several at a time (batches, ranges of
--   numbers); look before you write; read-copy-update instead of reference counts or read-write locks
-- see: docs/sharing.md
-- see: https://docs.kernel.org/kernel-hacking/false-sharing.html
-- claims:
with cpu as materialized (
    select comm, sum(slow) as slow, sum(against) as against from budget
    where state in ('user', 'kernel') and aside = 0 group by comm
),
-- Seconds per unit of work that a function waits for lines of that kind, on either side.
waits as materialized (
    select s.thing, s.function, s.comm, s.slow_part * c.slow as slow,
           min(s.against_part, s.slow_part) * c.against as against
    from sharing s join cpu c on c.comm = s.comm where s.kind = 'true' and s.whole >= 0.02
),
cells as materialized (
    select comm, function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 group by comm, function having growth > 0
),
-- Methods that HotSpot's first compiler made count what they do in memory of the JVM, which all threads write: that goes
-- with how the code was compiled.
counting as materialized (
    select function from method_use group by function
    having sum(iif(tier in (2, 3), slow, 0)) > 0.5 * sum(slow)
       and coalesce(sum(iif(tier in (2, 3), against, 0)), 0) <= 0.5 * coalesce(sum(against), 0)
),
-- Lines with a lock in them: code that takes or gives back locks waits for them.
of_locks as materialized (
    select distinct s.thing from sharing s join budget b on b.function = s.function and b.comm = s.comm
    where has_role(b.own_roles, 'lock.take', 'lock.wait', 'lock.release')
),
-- Where threads wait for a lock, its line is written by all of them: what is wrong is that they want the same lock.
contended as materialized (
    select ramp((select sum(slow - against) from budget where state = 'lock' and lock_name is not null)
                / max(slow - coalesce(against, 0), 1e-12), 0.005, 0.02) as part
    from measure where name = 'elapsed'
)
select w.thing as subject, b.cell,
       min(1.0, (w.slow - w.against) / c.growth)
       * iif(w.thing in (select thing from of_locks), 1 - coalesce(l.part, 0), 1) as part
from waits w join budget b on b.function = w.function and b.comm = w.comm
join cells c on c.function = w.function and c.comm = w.comm left join contended l
where b.state = 'user' and b.aside = 0 and b.slow > b.against and w.slow > w.against * 1.2
    and not (w.thing glob 'line 0x*' and w.function in (select function from counting))
-- tells:
select s.thing as subject, s.fields, s.function, s.comm, 100 * s.whole as whole, round(s.speedup, 1) as speedup, s.note,
       iif(s.proven = 1, 'watched: watchpoints saw several threads use it', null) as seen
from (select *, row_number() over (partition by thing order by slow_part desc) as place from sharing) s
where s.place = 1 and s.thing in (select subject from claimed)
-- test claims: one counter of all
-- budget* state=user function=count comm=app slow=10 against=1
-- budget state=user function=parse comm=app slow=2 against=1
-- sharing kind=true thing=total fields=value comm=app function=count slow_part=0.7 against_part=0 whole=0.7
-- says 'threads write and read the same data again and again, total (value), in `count()`'
-- test refuses: the line of a lock that is waited for
-- budget state=user function=pthread_mutex_lock path=;main;pthread_mutex_lock; comm=app slow=10 against=1
-- budget state=lock lock=table lock_name=table caller=get comm=app slow=2
-- measure name=elapsed slow=12 against=1
-- sharing kind=true thing=table fields=mutex comm=app function=pthread_mutex_lock slow_part=0.7 against_part=0 whole=0.7
-- test refuses: what lies beside a lock that is waited for
-- budget state=user function=pthread_mutex_lock path=;main;pthread_mutex_lock; comm=app slow=10 against=1
-- budget state=user function=count comm=app slow=10 against=1
-- budget state=lock lock=table lock_name=table caller=get comm=app slow=2
-- measure name=elapsed slow=22 against=2
-- sharing kind=true thing=table fields=mutex comm=app function=pthread_mutex_lock slow_part=0.2 against_part=0 whole=0.6
-- sharing kind=true thing=table fields=sum comm=app function=count slow_part=0.4 against_part=0 whole=0.6
-- test claims: a lock that is taken by all, and that nobody waits for
-- budget* state=user function=pthread_rwlock_rdlock path=;main;pthread_rwlock_rdlock; comm=app slow=10 against=1
-- measure name=elapsed slow=12 against=1
-- sharing kind=true thing=table fields=rwlock comm=app function=pthread_rwlock_rdlock slow_part=0.7 against_part=0 whole=0.7
-- test refuses: hardly any time
-- budget state=user function=count comm=app slow=10 against=1
-- sharing kind=true thing=total fields=value comm=app function=count slow_part=0.01 against_part=0 whole=0.01
-- test refuses: what the first compiler's code counts
-- budget state=user function=Main.get comm=java slow=10 against=1
-- method_use function=Main.get tier=3 slow=10 against=0 slow_samples=500 against_samples=0
-- method_use function=Main.get tier=4 slow=0 against=1 slow_samples=0 against_samples=50
-- sharing kind=true thing='line 0x7f793b40c180' comm=java function=Main.get slow_part=0.7 against_part=0 whole=0.7
-- test claims: a field, in code of the first compiler
-- budget* state=user function=Main.get comm=java slow=10 against=1
-- method_use function=Main.get tier=3 slow=10 against=0 slow_samples=500 against_samples=0
-- sharing kind=true thing=Main fields=count comm=java function=Main.get slow_part=0.9 against_part=0 whole=0.9
