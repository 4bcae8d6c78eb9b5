-- cause code-cache: the code cache is full: the JVM has stopped compiling
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time jvm_compiler
-- before: jit deoptimization
-- says: the JVM's code cache is full[[ ({used:B} of {most:B}, baseline {against_used:B} of {against_most:B})]]: methods
--   are not compiled, or thrown away again: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: the compilers took no work {stopped:ratio} of the time (baseline {against_stopped:ratio}), and stopped
--   {stops:1/s} (baseline {against_stops:1/s})
-- evidence: {interpreted:ratio} of the CPU time of Java methods is interpreted (baseline {against_interpreted:ratio}),
--   {c1:ratio} in code of C1 (baseline {against_c1:ratio})
-- evidence: {compiled:1/s} methods compiled (baseline {against_compiled:1/s}), {invalidated:1/s} given up
-- evidence: from 90 % on, methods are thrown away that were not called for a while; it came to {part:ratio} (baseline
--   {against_part:ratio})
-- check: jcmd PID Compiler.codecache: full_count, compilation: disabled
-- try: a larger one: -XX:ReservedCodeCacheSize (240 MB by default, 48 MB without tiers)
-- experiment: jvm -XX:ReservedCodeCacheSize: x1 x2 x4
-- see: https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
-- when:
with compiler as materialized (
    select coalesce(mean(iif(side = 'slow', stopped, null), seconds), 0) as stopped,
           coalesce(mean(iif(side = 'against', stopped, null), seconds), 0) as against_stopped,
           coalesce(sum(iif(side = 'slow', stops * per_second, 0)), 0) as stops,
           coalesce(sum(iif(side = 'against', stops * per_second, 0)), 0) as against_stops,
           sum(iif(side = 'slow', (compiled + coalesce(osr, 0)) * per_second, 0)) as compiled,
           sum(iif(side = 'against', (compiled + coalesce(osr, 0)) * per_second, 0)) as against_compiled,
           sum(iif(side = 'slow', invalidated * per_second, 0)) as invalidated
    from w_jvm_compiler
),
tiers as materialized (
    select sum(iif(tier = 0, slow, 0)) / nullif(sum(slow), 0) as interpreted,
           sum(iif(tier = 0, against, 0)) / nullif(sum(against), 0) as against_interpreted,
           sum(iif(tier between 1 and 3, slow, 0)) / nullif(sum(slow), 0) as c1,
           sum(iif(tier between 1 and 3, against, 0)) / nullif(sum(against), 0) as against_c1
    from method_use
),
room as materialized (
    select max(slow_part) as part, max(against_part) as against_part, max(slow_used) as used,
           max(against_used) as against_used, max(slow_most) as most, max(against_most) as against_most
    from code_room
),
scores as materialized (
    select -- The compilers stand still, or do so again and again.
           max(ramp(c.stopped, 0.02, 0.1) * grown(c.stopped, c.against_stopped, 1.5, 2.5),
               ramp(c.stops, 0.02, 0.1) * grown(c.stops, c.against_stops, 1.5, 2.5)) as stopped,
           -- It was full once, and the other was not; by itself that costs nothing. From 90 % on methods are thrown away
           -- that were not called for a while (StartAggressiveSweepingAt).
           ramp(coalesce(r.part, 0), 0.85, 0.9) * (1 - ramp(coalesce(r.against_part, 0), 0.85, 0.9)) as full,
           -- What it costs: methods that wait to be compiled again, and are.
           max(ramp(coalesce(t.interpreted, 0) + coalesce(t.c1, 0) - coalesce(t.against_interpreted, 0)
                    - coalesce(t.against_c1, 0), 0.03, 0.1),
               ramp(c.compiled, 20, 60) * grown(c.compiled, c.against_compiled, 1.5, 3)) as felt
    from compiler c, tiers t, room r
)
select max(s.stopped, s.full * s.felt) as score, c.*, t.*, r.*
from scores s, compiler c, tiers t, room r
-- claims:
select 'code cache' as subject, cell, 1.0 as part from budget
where state = 'user' and (kind in ('interpreted', 'jit') or module glob '[[]jit*' or has_role(own_roles, 'interpreter')
                          or module glob '*libjvm*')
   or state in ('user', 'kernel') and has_role(roles, 'jit')
-- test claims: it is full
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget* thread='C2 CompilerThre' state=user path=;CompileBroker::compiler_thread_loop; slow=1 against=0.1
-- budget state=user kind=native function=memcpy module=/lib/libc.so.6 slow=1 against=1
-- w_jvm_compiler side=slow stopped=1 seconds=1 compiled=2 invalidated=1 per_second=1
-- w_jvm_compiler side=against stopped=0 seconds=1 compiled=2 invalidated=0 per_second=1
-- says 'code cache is full'
-- test claims: it was full now and then, and methods are thrown away
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget* state=user kind=inlined module=[jit] function=Main.work slow=2 against=0.5
-- code_room slow_part=0.97 against_part=0.1 slow_used=3040870 slow_most=3145728 against_used=24000000 against_most=251658240
-- method_use function=Main.work tier=0 slow=6 against=0.5
-- method_use function=Main.work tier=4 slow=2 against=2
-- w_jvm_compiler side=slow stopped=0 seconds=1 compiled=90 invalidated=1 per_second=1
-- w_jvm_compiler side=against stopped=0 seconds=1 compiled=20 invalidated=0 per_second=1
-- says 'code cache is full (2.90 MiB of 3 MiB, baseline 22.9 MiB of 240 MiB)'
-- test refuses: it has room
-- budget state=user kind=interpreted function=Main.work slow=6 against=0.5
-- w_jvm_compiler side=slow stopped=0 seconds=1 compiled=2 invalidated=1 per_second=1
-- code_room slow_part=0.4 against_part=0.1 slow_used=1258291 slow_most=3145728 against_used=24000000 against_most=251658240
-- test refuses: it is full, and nothing comes of it
-- budget state=user kind=jit function=Main.work slow=6 against=0.5
-- w_jvm_compiler side=slow stopped=0 seconds=1 compiled=2 invalidated=1 per_second=1
-- w_jvm_compiler side=against stopped=0 seconds=1 compiled=2 invalidated=1 per_second=1
-- method_use function=Main.work tier=4 slow=6 against=2
-- code_room slow_part=0.97 against_part=0.1 slow_used=3040870 slow_most=3145728 against_used=24000000 against_most=251658240
