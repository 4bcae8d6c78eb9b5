-- cause code-cache: the code cache is full: the JVM has stopped compiling
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time jvm_compiler
-- before: jit
-- says: the JVM's code cache is full, and its compilers took no work {stopped:ratio} of the time (baseline
--   {against_stopped:ratio}): code runs interpreted or half compiled, {slow:s} per unit of work (baseline {against:s})
-- evidence: {compiled:1/s} methods compiled (baseline {against_compiled:1/s}), {invalidated:1/s} given up
-- check: jcmd PID Compiler.codecache: full_count, compilation: disabled
-- try: a larger one: -XX:ReservedCodeCacheSize (240 MB by default, 48 MB without tiers)
-- experiment: jvm -XX:ReservedCodeCacheSize: x1 x2 x4
-- see: https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
-- when:
select ramp(s.slow, 0.02, 0.1) * grown(s.slow, s.against, 1.5, 2.5) as score, s.*
from (select mean(iif(side = 'slow', stopped, null), seconds) as slow,
             coalesce(mean(iif(side = 'against', stopped, null), seconds), 0) as against,
             mean(iif(side = 'slow', stopped, null), seconds) as stopped,
             coalesce(mean(iif(side = 'against', stopped, null), seconds), 0) as against_stopped,
             sum(iif(side = 'slow', compiled * per_second, 0)) as compiled,
             sum(iif(side = 'against', compiled * per_second, 0)) as against_compiled,
             sum(iif(side = 'slow', invalidated * per_second, 0)) as invalidated
      from w_jvm_compiler) s
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
-- test refuses: it has room
-- budget state=user kind=interpreted function=Main.work slow=6 against=0.5
-- w_jvm_compiler side=slow stopped=0 seconds=1 compiled=2 invalidated=1 per_second=1
