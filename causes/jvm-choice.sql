-- cause jvm-choice: the JVM chose another collector or fewer threads by the CPUs and the memory that it found
-- layer: jvm
-- page: jvm set-up
-- needs: thread_time
-- against: yes
-- before: gc
-- yields: heap-size explicit-gc
-- says: the JVM itself chose {subject} (baseline {against_choice}): garbage collection takes {slow:s} per unit of work
--   (baseline {against:s})
-- evidence: options that nobody gave and that differ: {options}
-- check: jcmd PID VM.flags -all | grep ergonomic; java -XX:+PrintFlagsFinal -version
-- try: say which collector and how many threads it should have: -XX:+UseG1GC, -XX:ParallelGCThreads,
--   -XX:ActiveProcessorCount; or give the control group two CPUs and 2 GB, below which a JVM takes SerialGC
-- experiment: jvm -XX:+UseG1GC: off on
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/ergonomics.html
-- when:
with chosen as materialized (
    select s.side as side, substr(f.name, instr(f.name, '.flag.') + 6) as flag, f.value as value
    from fact f join side s on s.run = f.run
    where f.name glob 'java.*.flag.*' and f.value glob '*(ergonomic)'
),
flags as materialized (
    select flag, max(iif(side = 'slow', value, null)) as slow, max(iif(side = 'against', value, null)) as against
    from chosen where flag glob 'Use*GC' or flag in ('ParallelGCThreads', 'ConcGCThreads') group by flag
),
differ as materialized (select flag, slow, against from flags where slow is not against),
collectors as materialized (
    select max(iif(slow glob 'true*', flag, null)) as slow, max(iif(against glob 'true*', flag, null)) as against
    from differ where flag glob 'Use*GC'
),
work as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against, coalesce(sum(share), 0) as share
    from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
),
stopped as materialized (
    select coalesce(sum(iif(side = 'slow', time * per_unit, 0)), 0) / 1e9 as slow,
           coalesce(sum(iif(side = 'against', time * per_unit, 0)), 0) / 1e9 as against
    from w_jvm_pause where kind <> 'operation'
)
-- Of one thread that collects, the CPU time may shrink while all stand for longer.
select (c.slow is not null and c.against is not null)
       * max(grown(w.slow, w.against, 1.2, 1.4),
             grown(p.slow, p.against, 1.2, 1.4) * ramp((p.slow - p.against) / e.slow, 0.02, 0.05)) as score,
       c.slow as choice, c.against as against_choice,
       (select group_concat(flag || ' ' || coalesce(replace(slow, ' (ergonomic)', ''), 'default') || ' (baseline '
                            || coalesce(replace(against, ' (ergonomic)', ''), 'default') || ')', ', ')
        from differ) as options,
       min(max(p.slow - p.against, 0) / nullif(max(e.slow - coalesce(e.against, 0), 0), 0), 1.0) as of_waits
from collectors c, work w, stopped p, (select slow, against from measure where name = 'elapsed') e
-- claims:
select given.choice as subject, cell,
       iif(has_role(roles, 'gc.work') and state <> 'idle' or has_role(roles, 'gc.stop'), 1.0,
           coalesce(of_waits, 0)) as part
from budget, given
where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable') and has_role(roles, 'gc.work')
   or state in ('idle', 'lock', 'other') and has_role(roles, 'gc.stop', 'safepoint')
   or state in ('idle', 'fewer_threads', 'runnable') and share > 0
-- test claims: one CPU, so it took the serial one
-- fact run=slow name=java.Main.flag.UseSerialGC value='true (ergonomic)'
-- fact run=against name=java.Main.flag.UseG1GC value='true (ergonomic)'
-- budget* thread='VM Thread' state=user path=;VM_GenCollectFull::doit; slow=4 against=1
-- budget state=user path=;Main.run; slow=1 against=1
-- says 'the JVM itself chose UseSerialGC (baseline UseG1GC)'
-- test refuses: somebody said so
-- fact run=slow name=java.Main.flag.UseSerialGC value='true (command line)'
-- fact run=against name=java.Main.flag.UseG1GC value='true (ergonomic)'
-- budget thread='VM Thread' state=user path=;VM_GenCollectFull::doit; slow=4 against=1
-- test refuses: it collects no more than before
-- fact run=slow name=java.Main.flag.UseSerialGC value='true (ergonomic)'
-- fact run=against name=java.Main.flag.UseG1GC value='true (ergonomic)'
-- budget thread='VM Thread' state=user path=;VM_GenCollectFull::doit; slow=1 against=1
