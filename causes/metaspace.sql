-- cause metaspace: classes are loaded and dropped all the time
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time jvm_pause
-- before: gc heap-size
-- says: the room for classes is full, and collections make some: {slow:s} per unit of work (baseline {against:s})
-- evidence: {pauses:1/s} pauses because of Metadata GC Threshold stop all Java threads {stopped:ratio} of the time
--   (baseline {against_stopped:ratio})
-- check: jcmd PID VM.metaspace; -Xlog:gc: "Metadata GC Threshold"; -Xlog:class+load,class+unload
-- try: do not make class loaders and proxies for each request: keep them; -XX:MetaspaceSize above what is in use
-- experiment: jvm -XX:MetaspaceSize: x1 x4
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
-- when:
with stopped as materialized (
    select coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', time * per_unit, 0)), 0) / 1e9 as against,
           coalesce(sum(iif(side = 'slow', time * per_second, 0)), 0) / 1e9 as stopped,
           coalesce(sum(iif(side = 'against', time * per_second, 0)), 0) / 1e9 as against_stopped,
           sum(iif(side = 'slow', together * per_second, 0)) as pauses
    from w_jvm_pause where cause glob 'Metadata GC*'
),
all_stops as materialized (
    select coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow
    from w_jvm_pause where kind <> 'operation'
)
select grown(s.slow, s.against, 1.5, 2.5) * ramp(s.slow / e.slow, 0.01, 0.03)
       * ramp(s.slow / nullif(a.slow, 0), 0.3, 0.6) as score, s.stopped, s.against_stopped, s.pauses,
       min(max(s.slow - s.against, 0) / nullif(max(e.slow - coalesce(e.against, 0), 0), 0), 1.0) as of_waits
from stopped s, all_stops a, (select slow, against from measure where name = 'elapsed') e
-- claims:
with loading as materialized (
    -- What is dropped is loaded again, verified and linked.
    select cell from budget
    where path glob '*;SystemDictionary::*' or path glob '*;ClassFileParser::*' or path glob '*ClassLoader.*'
          or path glob '*;ClassLoaderData::*' or path glob '*;ClassLoaderDataGraph::*' or path glob '*;Verifier::*'
          or path glob '*;InstanceKlass::link_class*'
)
select 'metaspace' as subject, cell,
       iif(state in ('idle', 'fewer_threads', 'runnable') and not has_role(roles, 'gc.stop')
           or has_role(roles, 'safepoint'), of_waits, 1.0) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('user', 'kernel', 'lock') and cell in (select cell from loading)
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: class loaders come and go
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget* state=user path=;Main.run;java.lang.ClassLoader.defineClass1;SystemDictionary::resolve_from_stream; slow=2
-- budget state=user path=;Main.run; slow=1 against=1
-- measure name=elapsed slow=8 against=2
-- w_jvm_pause side=slow kind=full cause='Metadata GC Threshold' time=2000000000 per_unit=1 per_second=0.25 together=3
-- says 'the room for classes is full'
-- test refuses: once, at the start
-- budget thread='GC Thread#' state=user slow=4 against=1
-- w_jvm_pause side=slow kind=full cause='Metadata GC Threshold' time=20000000 per_unit=1 per_second=0.25 together=1
-- w_jvm_pause side=slow kind=young cause='Allocation Failure' time=2000000000 per_unit=1 per_second=0.25 together=9
