-- cause jit: code runs interpreted or barely optimised
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time sample
-- yields: busy-wait gc lock-contention safepoints timers
-- says: {runs}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: compiler threads took {compiler:s} per unit of work (baseline {against_compiler:s})
-- check: -XX:+PrintCompilation; jcmd PID Compiler.codecache; flags -Xint, -XX:TieredStopAtLevel,
--   -XX:-TieredCompilation, ReservedCodeCacheSize
-- try: remove flags that prevent compilation; a larger code cache; split methods of more than 8000 bytes of bytecode
--   (HugeMethodLimit); warm up before measuring
-- experiment: jvm -XX:TieredStopAtLevel: 4 1
-- see: https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
-- when:
with commands as materialized (
    select max(iif(s.side = 'slow', r.command, null)) as slow, max(iif(s.side = 'against', r.command, null)) as against
    from run r join side s on s.run = r.run
),
interpreted as materialized (
    select sum(iif(kind = 'interpreted' or has_role(own_roles, 'interpreter'), slow, 0)) as slow,
           sum(iif(kind = 'interpreted' or has_role(own_roles, 'interpreter'), against, 0)) as against
    from budget where state = 'user' and not has_role(roles, 'gc.work')
),
compiler as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against from budget
    where has_role(roles, 'jit') and state in ('user', 'kernel')
),
flags as materialized (
    select coalesce(slow is not against and (slow glob '*-Xint*' or slow glob '*TieredStopAtLevel=*'
        or slow glob '*-XX:-UseCompiler*' or slow glob '*DontCompileHugeMethods*' or slow glob '*CompileCommand*'), 0)
        as differ
    from commands
)
select max(i.score, f.differ) as score, iif(i.score > 0, 'interpreter', 'flags of the compiler') as runs_in,
       iif(i.score > 0, 'code runs in the interpreter', 'code runs half compiled (flags of the compiler differ)') as runs,
       c.slow as compiler, c.against as against_compiler
from (select grown(slow, against, 1.7, 2.3) * ramp(slow / (select slow from state where state = 'user'), 0.15, 0.25)
             as score from interpreted) i, flags f, compiler c
-- claims:
select runs_in as subject, cell, 1.0 as part from budget, given
where state = 'user' and (kind in ('interpreted', 'jit') or module glob '[[]jit*' or has_role(own_roles, 'interpreter')
                          or module glob '*libjvm*')
   or state in ('user', 'kernel') and has_role(roles, 'jit')
-- test claims: the interpreter
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget state=user kind=native function=memcpy module=/lib/libc.so.6 slow=1 against=1
-- says 'code runs in the interpreter'
-- test refuses: compiled code that does more
-- budget state=user kind=jit function=Main.work module=[jit] slow=6 against=1
