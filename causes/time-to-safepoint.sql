-- cause time-to-safepoint: threads wait for the last one to reach a safepoint
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time jvm_pause sample
-- before: gc heap-size explicit-gc safepoints lock-contention
-- says: before each pause all Java threads wait {each:s} for the last one to stop: {to_stop:ratio} of the time
--   (baseline {against_to_stop:ratio})
-- evidence: meanwhile {subject:fn} is on the CPU, in {method:ratio} of the samples
-- evidence: the longest took {longest:s} to stop, for a pause of {pause:s}; operation {operation}
-- check: -Xlog:safepoint: "Reaching safepoint"; -XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50
-- try: a loop without a poll: -XX:LoopStripMiningIter=1000 (ParallelGC and SerialGC have 0), a long counter in place of
--   an int, -XX:+UseCountedLoopSafepoints
-- try: large copies and fills of arrays in pieces; CPUs for the thread that is late
-- experiment: jvm -XX:LoopStripMiningIter: x1 1000
-- see: https://openjdk.org/groups/hotspot/docs/HotSpotGlossary.html
-- when:
with stops as materialized (
    select coalesce(sum(iif(side = 'slow', to_stop * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', to_stop * per_unit, 0)), 0) / 1e9 as against,
           sum(iif(side = 'slow', to_stop * per_second, 0)) / 1e9 as rate,
           sum(iif(side = 'against', to_stop * per_second, 0)) / 1e9 as against_rate,
           sum(iif(side = 'slow', to_stop, 0)) / 1e9 / nullif(sum(side = 'slow' and to_stop is not null), 0) as each,
           sum(iif(side = 'slow', to_stop, 0)) * 1.0
               / nullif(sum(iif(side = 'slow', to_stop + time, 0)), 0) as of_stops
    from w_jvm_pause
)
select grown(s.slow, s.against, 1.5, 2.5) * ramp((s.slow - s.against) / e.slow, 0.02, 0.04) as score,
       s.slow as waited, s.against as against_waited, s.rate as to_stop, s.against_rate as against_to_stop, s.each,
       s.of_stops, min((s.slow - s.against) / nullif(max(e.slow - coalesce(e.against, 0), 0), 0), 1.0) as of_waits
from stops s, (select slow, against from measure where name = 'elapsed') e
-- claims:
with late as materialized (
    -- Who is on the CPU while the others stand: of the same process, between the request and the stop.
    select coalesce(f.function, '?') as function, count(*) as times
    from w_jvm_pause p
         join w_sample s on s.run = p.run and s.pid = p.pid and s.at > p.at - p.to_stop and s.at < p.at
         join stack k on k.run = s.run and k.number = s.stack join frame f on f.run = k.run and f.number = k.frame
    where p.side = 'slow' and p.to_stop > 1000000 and s.thread <> 'VM Thread'
          and (f.kind in ('jit', 'interpreted') or f.module glob '[[]jit*')
    group by 1 order by 2 desc
),
named as (
    select coalesce((select function from late limit 1), 'one thread') as function,
           (select times * 1.0 / nullif((select sum(times) from late), 0) from late limit 1) as method
)
select n.function as subject, n.method as method, cell,
       case when state in ('idle', 'fewer_threads', 'runnable') and not has_role(roles, 'safepoint', 'gc.stop')
            then of_waits else of_stops end as part
from budget, given, named n
where state in ('idle', 'lock', 'other', 'sleep') and has_role(roles, 'safepoint', 'gc.stop')
   or thread = 'VM Thread' and path glob '*;SafepointSynchronize::*'
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- tells:
with longest as (
    select to_stop / 1e9 as longest, time / 1e9 as pause, operation from w_jvm_pause
    where side = 'slow' and to_stop is not null order by to_stop desc limit 1
)
select l.*, (select max(method) from claimed) as method from longest l
-- test claims: all wait for a loop
-- budget* state=lock path=;Main.alloc;_new_instance_Java;SafepointSynchronize::block; slow=3
-- budget* thread='VM Thread' state=sleep path=;VMThread::run;SafepointSynchronize::begin; slow=4
-- budget state=user path=;Main.loop; slow=1 against=1
-- w_jvm_pause run=slow side=slow pid=7 at=900000000 to_stop=800000000 time=1000000 per_unit=5 per_second=1 operation=GenCollect
-- w_sample side=slow run=slow pid=7 thread=worker at=500000000 stack=1
-- stack run=slow number=1 frame=2
-- frame run=slow number=2 function=Main.loop kind=jit
-- says 'before each pause all Java threads wait 800 ms for the last one to stop'
-- test refuses: they stop at once
-- budget state=lock path=;Main.alloc;SafepointSynchronize::block; slow=3
-- w_jvm_pause run=slow side=slow pid=7 at=900000000 to_stop=20000 time=900000000 per_unit=5 per_second=1
