-- cause heap-size: the heap is too small: the collector runs all the time
-- layer: jvm
-- page: profiles set-up
-- needs: thread_time
-- specific: 7
-- against: yes
-- says: garbage collection takes {slow:s} per unit of work (baseline {against:s}); heap size: {slow_heap} (baseline
--   {against_heap})
-- evidence: in threads {threads}
-- check: jcmd PID VM.flags; jstat -gcutil PID 1s: the old generation is near 100 % after each collection
-- try: a larger heap: -Xmx, -XX:MaxRAMPercentage; start with twice the live data
-- experiment: -Xmx
-- see: https://docs.oracle.com/en/java/javase/21/gctuning/
with heap as materialized (
    select max(iif(s.side = 'slow', r.command, null)) as slow_command,
        max(iif(s.side = 'against', r.command, null)) as against_command from run r join side s on s.run = r.run
),
flags as materialized (
    select slow_command, against_command, instr(slow_command, '-Xmx') as at,
        instr(against_command, '-Xmx') as against_at from heap where slow_command is not against_command
),
words as materialized (
    select iif(at > 0, replace(substr(slow_command, at + 4, instr(substr(slow_command, at + 4), '"') - 1), '"', ''),
        'the default') as slow_heap,
           iif(against_at > 0, replace(substr(against_command, against_at + 4, instr(substr(against_command,
               against_at + 4), '"') - 1), '"', ''), 'the default') as against_heap
    from flags where at > 0
),
collector as materialized (
    select cell, slow, against, thread from budget
    where state in ('user', 'kernel', 'lock', 'fault', 'disk', 'runnable')
      and (thread glob 'GC Thread#*' or thread glob 'G#*' or thread glob 'ParGC*' or thread glob 'GC task*'
          or thread glob 'Concurrent Mark*' or thread glob 'Z*Driver*' or thread glob 'ZWorker*'
          or thread glob 'Shenandoah*' or thread = 'VM Thread')
),
grown as materialized (select sum(slow) as slow, sum(against) as against, group_concat(distinct thread) as threads
    from collector having sum(slow) > 1.3 * sum(against)),
-- While it runs the others wait; then it lets them go all at once, and they wait behind one another.
stopped as materialized (
    select cell from budget where (state in ('idle', 'lock', 'other') and (path glob '*Safepoint*'
        or path glob '*VM_Operation*' or path glob '*VMThread::execute*' or path glob '*CollectedHeap*'))
       or (state in ('idle', 'fewer_threads', 'runnable') and share > 0
           and (select sum(b.share) from budget b where b.cell in (select cell from collector)) > 0.1)
)
select 'heap' as subject, c.cell, 1.0 as part, g.slow, g.against, g.threads, w.slow_heap, w.against_heap
from (select cell from collector union select cell from stopped) c, grown g, words w
    where w.slow_heap is not w.against_heap
-- test claims: a smaller heap
-- run run=slow command='["java","-Xmx64m"]'
-- run run=against command='["java","-Xmx1g"]'
-- budget* thread='GC Thread#' state=user slow=4 against=1
-- budget state=user path=;Main.run; slow=1 against=1
-- test refuses: the same heap, other arguments
-- run run=slow command='["java","-Xmx64m","Main","9"]'
-- run run=against command='["java","-Xmx64m"]'
-- budget thread='GC Thread#' state=user slow=4 against=1
