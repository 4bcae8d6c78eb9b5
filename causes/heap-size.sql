-- cause heap-size: the heap is too small: the collector runs all the time
-- layer: jvm
-- page: jvm profiles set-up
-- needs: thread_time
-- against: yes
-- yields: explicit-gc listen-overflow mm-lock process-creation swap tlb-shootdown
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s}); heap size: {slow_heap} (baseline
--   {against_heap})
-- evidence: {live:B} are still in use after full collections: what the program needs
-- evidence: in threads {threads}
-- check: jcmd PID VM.flags; jstat -gcutil PID 1s: the old generation is near 100 % after each collection
-- try: a larger heap: -Xmx, -XX:MaxRAMPercentage; start with twice the live data
-- experiment: jvm -Xmx: x1 x2 x4
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
-- when:
with commands as materialized (
    select max(iif(s.side = 'slow', r.command, null)) as slow, max(iif(s.side = 'against', r.command, null)) as against
    from run r join side s on s.run = r.run
),
-- What the limit came to, which the JVM chooses by the memory of the machine or the control group where nobody says.
effective as materialized (
    select max(iif(s.side = 'slow', f.value, null)) as slow, max(iif(s.side = 'against', f.value, null)) as against
    from fact f join side s on s.run = f.run where f.name glob 'java.*.flag.MaxHeapSize'
),
-- What stands behind -Xmx in each.
behind as materialized (
    select iif(instr(slow, '-Xmx') > 0, substr(slow, instr(slow, '-Xmx') + 4), 'the default') || '"' as slow,
           iif(instr(against, '-Xmx') > 0, substr(against, instr(against, '-Xmx') + 4), 'the default') || '"' as against
    from commands
),
-- -Xmx in bytes; null where it is not said.
limits as materialized (
    select nullif(cast(slow as integer), 0) * (case lower(substr(ltrim(slow, '0123456789'), 1, 1))
               when 'k' then 1 << 10 when 'm' then 1 << 20 when 'g' then 1 << 30 when 't' then 1 << 40 else 1 end) as slow,
           nullif(cast(against as integer), 0) * (case lower(substr(ltrim(against, '0123456789'), 1, 1))
               when 'k' then 1 << 10 when 'm' then 1 << 20 when 'g' then 1 << 30 when 't' then 1 << 40 else 1 end) as against
    from behind
),
heaps as materialized (
    select iif(e.slow is not null and e.against is not null, (cast(e.slow as integer) >> 20) || ' MiB'
               || substr(e.slow, instr(e.slow, ' (')), substr(b.slow, 1, instr(b.slow, '"') - 1)) as slow,
           iif(e.slow is not null and e.against is not null, (cast(e.against as integer) >> 20) || ' MiB'
               || substr(e.against, instr(e.against, ' (')),
               substr(b.against, 1, instr(b.against, '"') - 1)) as against,
           -- A larger heap is not too small, and of one that is not known nothing is said.
           coalesce(cast(e.slow as integer) < cast(e.against as integer), l.slow < l.against, 0) as is_smaller
    from behind b, effective e, limits l
),
stopped as materialized (
    select count(*) as told, coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', time * per_unit, 0)), 0) / 1e9 as against
    from w_jvm_pause where kind <> 'operation'
),
live as materialized (
    select max(iif(side = 'slow', used_after, null)) as slow from w_jvm_pause where kind = 'full'
),
collector as materialized (
    select grown(sum(slow), sum(against), 1.2, 1.4) as score, sum(share) as share,
           sum(slow) as slow, sum(against) as against, group_concat(distinct thread) as threads
    from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
)
select c.score * h.is_smaller as score,
       iif(s.told > 0, min(max(s.slow - s.against, 0) / nullif((select max(slow - coalesce(against, 0), 0) from measure
                                                                where name = 'elapsed'), 0), 1.0),
           ramp(c.share, 0.07, 0.13)) as of_waits,
       c.slow as collector, c.against as against_collector,
       c.threads, h.slow as slow_heap, h.against as against_heap, l.slow as live
from heaps h, collector c, stopped s, live l
-- claims:
select 'heap' as subject, cell,
       iif(has_role(roles, 'gc.work') and state <> 'idle' or has_role(roles, 'gc.stop'), 1.0, of_waits) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
      -- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: a smaller heap
-- run run=slow command='["java","-Xmx64m"]'
-- run run=against command='["java","-Xmx1g"]'
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: the same heap, other arguments
-- run run=slow command='["java","-Xmx64m","Main","9"]'
-- run run=against command='["java","-Xmx64m"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
-- test refuses: a larger heap by its option alone
-- run run=slow command='["java","-Xmx4g"]'
-- run run=against command='["java","-Xmx1g"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
-- test refuses: the same heap in another unit
-- run run=slow command='["java","-Xmx1g"]'
-- run run=against command='["java","-Xmx1024m"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
-- test refuses: a default that is not known
-- run run=slow command='["java","-Xmx1g"]'
-- run run=against command='["java","Main"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
-- test claims: chosen by the JVM, with the same command
-- run run=slow command='["java","Main"]'
-- run run=against command='["java","Main"]'
-- fact run=slow name=java.Main.flag.MaxHeapSize value='268435456 (ergonomic)'
-- fact run=against name=java.Main.flag.MaxHeapSize value='1073741824 (ergonomic)'
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget state=user path=;Main.run; slow=1 against=1
-- says '256 MiB (ergonomic) (baseline 1024 MiB (ergonomic))'
-- test refuses: a larger heap than before
-- run run=slow command='["java","-Xmx1g"]'
-- run run=against command='["java","-Xmx64m"]'
-- fact run=slow name=java.Main.flag.MaxHeapSize value='1073741824 (command line)'
-- fact run=against name=java.Main.flag.MaxHeapSize value='67108864 (command line)'
-- budget thread='GC Thread#' state=user slow=4 against=1
