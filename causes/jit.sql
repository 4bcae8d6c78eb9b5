-- cause jit: code runs interpreted or barely optimised
-- layer: jvm
-- page: profiles
-- needs: thread_time sample
-- specific: 5
-- says: {subject}: {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: compiler threads took {compiler:s} per unit of work (baseline {against_compiler:s})
-- check: -XX:+PrintCompilation; jcmd PID Compiler.codecache; flags -Xint, -XX:TieredStopAtLevel,
--   -XX:-TieredCompilation, ReservedCodeCacheSize
-- try: remove flags that prevent compilation; a larger code cache; split methods of more than 8000 bytes of bytecode
--   (HugeMethodLimit); warm up before measuring
-- experiment: -XX:TieredStopAtLevel
-- see: https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
with compiler as materialized (select coalesce(sum(slow), 0) as compiler, coalesce(sum(against), 0) as against_compiler
    from budget where thread glob 'C# CompilerThre*' and state in ('user', 'kernel')),
interpreted as materialized (
    select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against from budget where state = 'user'
        and (kind = 'interpreted' or function glob '*Interpreter*' or function glob 'StubRoutines*interp*')
),
commands as materialized (
    select max(iif(s.side = 'slow', r.command, null)) as slow, max(iif(s.side = 'against', r.command, null)) as against
        from run r join side s on s.run = r.run
),
flagged as materialized (
    select coalesce(slow is not against and (slow glob '*-Xint*' or slow glob '*TieredStopAtLevel=*'
        or slow glob '*-XX:-UseCompiler*' or slow glob '*DontCompileHugeMethods*' or slow glob '*CompileCommand*'),
        0) as flag from commands
),
verdict as materialized (
    select iif(i.slow > 2 * i.against and i.slow > 0.2 * (select slow from state where state = 'user'),
        'code runs in the interpreter', 'code runs half compiled (' || 'flags of the compiler differ)') as subject
    from interpreted i, flagged f
    where (i.slow > 2 * i.against and i.slow > 0.2 * (select slow from state where state = 'user')) or f.flag
)
select v.subject, b.cell, 1.0 as part, sum(b.slow) over () as slow, sum(b.against) over () as against, c.compiler,
    c.against_compiler
from budget b, verdict v, compiler c
where (b.state = 'user' and (b.kind in ('interpreted', 'jit') or b.module glob '[[]jit*'
    or b.function glob '*Interpreter*' or b.module glob '*libjvm*'))
    or (b.thread glob 'C# CompilerThre*' and b.state in ('user', 'kernel'))
-- test claims: the interpreter
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget state=user kind=native function=memcpy module=/lib/libc.so.6 slow=1 against=1
-- says 'code runs in the interpreter'
-- test refuses: compiled code that does more
-- budget state=user kind=jit function=Main.work module=[jit] slow=6 against=1
