-- cause jit: code runs interpreted or barely optimised
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time sample
-- yields: busy-wait gc lock-contention safepoints timers
-- says: {runs}[[; {stuck:fn} is {kept}]]: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: of the CPU time of Java methods {interpreted:ratio} is interpreted (baseline {against_interpreted:ratio}),
--   {c1:ratio} compiled by C1 (baseline {against_c1:ratio}), {c2:ratio} by C2 (baseline {against_c2:ratio})
-- evidence: {stuck:fn} is {kept}: it has {stuck_part:ratio} of the time of methods that are interpreted or left to C1
-- evidence: {most:fn} grew most of what is interpreted or left to C1: {most_slow:s} per unit of work (baseline
--   {most_against:s})
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
-- What Java methods took, by how they ran; nothing where that was not recorded.
tiers as materialized (
    select sum(slow) as slow, sum(against) as against,
           sum(iif(tier = 0, slow, 0)) as interpreted, sum(iif(tier = 0, against, 0)) as against_interpreted,
           sum(iif(tier between 1 and 3, slow, 0)) as c1, sum(iif(tier between 1 and 3, against, 0)) as against_c1
    from method_use
),
low as materialized (
    select interpreted + c1 as slow, against_interpreted + against_c1 as against, slow as of_slow, against as of_against,
           interpreted / nullif(slow, 0) as interpreted, against_interpreted / nullif(against, 0) as against_interpreted,
           c1 / nullif(slow, 0) as c1, against_c1 / nullif(against, 0) as against_c1
    from tiers
),
-- More of the time in code that is not optimised, by more than two runs of the same differ.
half as materialized (
    select coalesce(grown(slow, against, 1.7, 2.3) * ramp(slow / of_slow - coalesce(against / of_against, 0), 0.15, 0.3)
                    * ramp(slow / (select slow from state where state = 'user'), 0.15, 0.25), 0) as score, low.*
    from low
),
flags as materialized (
    select coalesce(slow is not against and (slow glob '*-Xint*' or slow glob '*TieredStopAtLevel=*'
        or slow glob '*-XX:-UseCompiler*' or slow glob '*DontCompileHugeMethods*' or slow glob '*CompileCommand*'), 0)
        as differ
    from commands
),
-- The method that stays behind for a reason, if it is much of what does.
behind as materialized (
    select method, why_not, sum(time) / nullif((select sum(time) from hot_method where side = 'slow' and tier < 4), 0)
               as part
    from hot_method
    where side = 'slow' and tier < 4 and why_not is not null and why_not not glob 'waits*'
      and not exists (select 1 from hot_method a where a.side = 'against' and a.method = hot_method.method
                                                 and a.why_not is hot_method.why_not)
    group by method order by 3 desc limit 1
),
scores as materialized (
    -- Where it is known how methods ran, that tells; the interpreter is also what links classes and the like.
    select iif((select coalesce(sum(slow_samples), 0) from method_use) >= 30, 0,
               (select grown(slow, against, 1.7, 2.3)
                       * ramp(slow / (select slow from state where state = 'user'), 0.15, 0.25)
                from interpreted)) as interpreted,
           h.score as half, f.differ as differ
    from half h, flags f
),
-- The interpreter, be the baseline optimised or by C1 alone.
by_interpreter as materialized (
    select s.interpreted > 0 or h.interpreted >= h.c1
           and (s.half > 0 or h.interpreted > coalesce(h.against_interpreted, 0) + 0.15) as so
    from scores s, half h
)
select max(s.interpreted, s.half, s.differ) as score,
       case when i.so then 'interpreter'
            when s.half > 0 then 'C1' else 'flags of the compiler' end as runs_in,
       case when i.so then 'code runs in the interpreter'
            when s.half > 0 then 'code runs half compiled, by C1 and not by C2'
            else 'code runs half compiled (flags of the compiler differ)' end as runs,
       b.method as stuck, b.part as stuck_part,
       case when b.why_not glob 'too large: *' then 'never compiled ' || '(' || substr(b.why_not, 12) || ')'
            when b.why_not is not null then b.why_not end as kept,
       h.interpreted, h.against_interpreted, h.c1, h.against_c1, round(max(1 - h.interpreted - h.c1, 0), 6) as c2,
       round(max(1 - h.against_interpreted - h.against_c1, 0), 6) as against_c2, c.slow as compiler,
       c.against as against_compiler
from scores s, half h, by_interpreter i, compiler c left join behind b on b.part > 0.1
-- claims:
select runs_in as subject, cell, 1.0 as part from budget, given
where state = 'user' and (kind in ('interpreted', 'jit') or module glob '[[]jit*' or has_role(own_roles, 'interpreter')
                          or module glob '*libjvm*')
   or state in ('user', 'kernel') and has_role(roles, 'jit')
-- tells:
select function as most, slow as most_slow, against as most_against
from (select function, sum(slow) as slow, sum(against) as against from method_use
      where tier < 4 and function <> 'Interpreter' group by function)
where slow > against order by slow - against desc limit 1
-- test claims: the interpreter
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget state=user kind=native function=memcpy module=/lib/libc.so.6 slow=1 against=1
-- says 'code runs in the interpreter: '
-- test claims: a method that is too large to be compiled
-- budget* state=user kind=interpreted function=Huge.big module=[jit] slow=6 against=0.5
-- budget* state=user kind=inlined function=Main.main module=[jit] slow=1 against=1
-- method_use function=Huge.big tier=0 slow=6 against=0
-- method_use function=Main.main tier=4 slow=1 against=1
-- hot_method side=slow method=Huge.big tier=0 time=6 why_not='too large: 12731 bytes of bytecode, limit 8000'
-- says '`Huge.big()` is never compiled (12731 bytes of bytecode, limit 8000)'
-- test claims: C2 is left out
-- budget* state=user kind=jit function=Main.work module=[jit] slow=6 against=3
-- method_use function=Main.work tier=3 slow=6 against=0.1
-- method_use function=Main.work tier=4 slow=0 against=2.9
-- says 'half compiled, by C1 and not by C2'
-- test claims: the interpreter, beside code that C1 compiled
-- run run=slow command='["java","-Xint"]'
-- run run=against command='["java","-XX:TieredStopAtLevel=1"]'
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0
-- method_use function=Main.work tier=0 slow=6 against=0
-- method_use function=Main.work tier=1 slow=0 against=1
-- says 'code runs in the interpreter: '
-- test refuses: compiled code that does more
-- budget state=user kind=jit function=Main.work module=[jit] slow=6 against=1
-- method_use function=Main.work tier=4 slow=6 against=1
-- test refuses: as much of it by C1 as before
-- budget state=user kind=jit function=Main.work module=[jit] slow=6 against=1
-- method_use function=Main.work tier=3 slow=3 against=0.5
-- method_use function=Main.work tier=4 slow=3 against=0.5
-- test refuses: the interpreter only links classes, and methods run compiled
-- budget state=user kind=native function=InterpreterRuntime::resolve_from_cache module=/jdk/libjvm.so slow=6 against=0.5
-- method_use function=Main.work tier=0 slow=0.1 against=0 slow_samples=10
-- method_use function=Main.work tier=4 slow=3 against=2.5 slow_samples=300
