-- cause gc: garbage collection takes the time
-- layer: jvm
-- page: jvm profiles processes
-- needs: thread_time
-- yields: compaction goroutine-lock heap-size ipi irq-imbalance memory-limit nagle page-faults priority slow-clock
--   thundering-herd
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s})
-- evidence: all Java threads stand {stopped:ratio} of the time (baseline {against_stopped:ratio}), in {pauses:1/s}
--   pauses (baseline {against_pauses:1/s})
-- evidence: {which:ratio} of that are {kind}[[, because of {cause}]][[: {hint}]]
-- evidence: allocated: {bytes:B} per unit of work (baseline {against_bytes:B})
-- evidence: of class {class}[[ in {site:fn}]]: {most:B} per unit of work (baseline {against_most:B})
-- evidence: of class {class2}[[ in {site2:fn}]]: {most2:B} per unit of work (baseline {against_most2:B})
-- evidence: of class {class3}[[ in {site3:fn}]]: {most3:B} per unit of work (baseline {against_most3:B})
-- evidence: in threads {threads}
-- check: -Xlog:gc*, jstat -gcutil PID 1s; GODEBUG=gctrace=1
-- try: allocate less (twinscope flame SLOW.twin --state allocation --against FAST.twin says where), a larger young
--   generation, another collector (-XX:+UseParallelGC for throughput, -XX:+UseZGC for pauses); Go: GOGC
-- experiment: jvm -Xmn: x1 x2
-- experiment: jvm -XX:+UseParallelGC: off on
-- experiment: env GOGC: 100 200 400
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
-- tail: helper VM Thread
-- tail: helper GC Thread*
-- tail: helper G1 *
-- tail: helper ParGC*
-- tail: helper ZWorker*
-- tail: helper Shenandoah*
-- tail-says: slow requests stand still for {more:s} while thread {helper} collects garbage
-- when:
with stopped as materialized (
    select count(*) as told, coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', time * per_unit, 0)), 0) / 1e9 as against
    from w_jvm_pause where kind <> 'operation'
),
work as materialized (
    select sum(slow) as slow, sum(against) as against, sum(share) as share, group_concat(distinct thread) as threads
    from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
    having count(*) > 0
)
select grown(w.slow, w.against, 1.2, 1.4) as score,
       -- Others wait for as long as the pauses last. Where these were not recorded, all of their waits are taken for it
       -- if the collector's work is a tenth of the slowdown.
       iif(s.told > 0, min(max(s.slow - s.against, 0) / nullif((select max(slow - coalesce(against, 0), 0) from measure
                                                                where name = 'elapsed'), 0), 1.0),
           ramp(w.share, 0.07, 0.13)) as of_waits,
       w.slow as collector, w.against as against_collector, w.threads
from work w, stopped s
-- claims:
select 'garbage collection' as subject, cell,
       iif(has_role(roles, 'gc.work') and state <> 'idle' or has_role(roles, 'gc.stop'), 1.0, of_waits) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
      -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- tells:
with stopped as materialized (
    select kind, cause, sum(iif(side = 'slow', time * per_second, 0)) / 1e9 as slow,
           sum(iif(side = 'against', time * per_second, 0)) / 1e9 as against,
           sum(iif(side = 'slow', together * per_second, 0)) as pauses,
           sum(iif(side = 'against', together * per_second, 0)) as against_pauses
    from w_jvm_pause where kind <> 'operation' group by kind, cause
),
sums as (
    select sum(slow) as stopped, sum(against) as against_stopped, sum(pauses) as pauses,
           sum(against_pauses) as against_pauses, max(sum(slow - against), 1e-12) as more
    from stopped
),
-- Where most more is allocated than in the baseline; what grew by less than a tenth of that says little.
grew as materialized (
    select class, function, slow, against, row_number() over (order by slow - against desc) as place,
           slow - against >= 0.1 * max(slow - against) over () and slow > 1.2 * against as counts
    from allocation_use where class is not null
),
allocated as (
    select sum(slow) as bytes, sum(against) as against_bytes from allocation_use having count(*) > 0
)
select s.stopped, s.against_stopped, s.pauses, s.against_pauses, min(max(k.slow - k.against, 0) / s.more, 1.0) as which,
       case k.kind when 'young' then 'young collections' when 'full' then 'full collections'
                   else 'pauses of a concurrent collector' end as kind, k.cause as cause,
       case when k.cause glob '*Humongous*' then 'objects of half a region or more go straight to the old generation '
                 || '(-XX:G1HeapRegionSize, smaller arrays)'
            when k.cause glob 'Metadata*' then 'classes are loaded and dropped all the time'
            when k.cause glob 'GCLocker*' then 'native code holds arrays by GetPrimitiveArrayCritical'
            when k.cause glob 'System.gc*' then 'the program asks for them'
            when k.kind = 'full' then 'the old generation is full: the heap is too small, or something keeps too much'
            when k.kind = 'young' then 'much is allocated for the size of the young generation' end as hint,
       a.bytes, a.against_bytes, g.class, g.function as site, g.slow as most, g.against as against_most,
       g2.class as class2, g2.function as site2, g2.slow as most2, g2.against as against_most2,
       g3.class as class3, g3.function as site3, g3.slow as most3, g3.against as against_most3
from (select 1) left join sums s left join (select * from stopped order by slow - against desc limit 1) k
     left join allocated a left join grew g on g.place = 1 and g.counts
     left join grew g2 on g2.place = 2 and g2.counts left join grew g3 on g3.place = 3 and g3.counts
-- test claims: the collector works more
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: as much as before
-- budget thread='GC Thread#' state=user slow=1 against=1
-- budget state=idle slow=3
-- test claims: of the waits as much as the pauses last
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- measure name=elapsed slow=8 against=2
-- w_jvm_pause side=slow kind=full cause='Allocation Failure' time=2000000000 per_unit=1 per_second=0.25 together=1
-- w_jvm_pause side=against kind=young cause='Allocation Failure' time=100000000 per_unit=1 per_second=0.25 together=1
-- says 'garbage collection takes'
-- test claims: it says what is allocated more
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=idle slow=3
-- budget state=user path=;Main.run; slow=1 against=1
-- allocation_use class=java.lang.Integer function=Report.add slow=3100000000 against=200000000
-- allocation_use class=byte[] function=Report.read slow=500000000 against=500000000
-- says 'garbage collection takes'
