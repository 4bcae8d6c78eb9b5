-- cause deoptimization: compiled code is given up again and again
-- layer: jvm
-- page: jvm profiles
-- needs: thread_time jvm_deoptimization jvm_compiler
-- before: jit safepoints
-- says: compiled code is left for the interpreter {rate:1/s} (baseline {against_rate:1/s}), because of {subject}:
--   {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: {compiled:1/s} methods compiled (baseline {against_compiled:1/s})
-- check: -Xlog:deoptimization=debug (JDK 17 and later); JFR event jdk.Deoptimization names the methods
-- try: what the code takes for granted must stay true: classes that are loaded late (class_check, bimorphic), branches
--   that are taken late (unstable_if), exceptions as control flow
-- try: -XX:PerMethodTrapLimit and -XX:PerBytecodeTrapLimit, only to see whether it is this
-- see: https://openjdk.org/groups/hotspot/docs/HotSpotGlossary.html
-- when:
with given_up as materialized (
    select reason, sum(iif(side = 'slow', count * per_second, 0)) as rate,
           sum(iif(side = 'against', count * per_second, 0)) as against_rate
    from w_jvm_deoptimization group by reason
),
sums as materialized (select sum(rate) as rate, sum(against_rate) as against_rate from given_up)
select grown(s.rate, s.against_rate, 2, 4) * ramp(s.rate, 10, 50) as score, s.rate, s.against_rate,
       (select reason from given_up order by rate - against_rate desc limit 1) as reason
from sums s
-- claims:
select given.reason as subject, cell, 1.0 as part from budget, given
where state = 'user' and (kind = 'interpreted' or has_role(own_roles, 'interpreter'))
   or state in ('user', 'kernel') and has_role(roles, 'jit')
   or state in ('user', 'kernel', 'lock') and path glob '*Deoptimiz*'
   or state in ('user', 'kernel') and path glob '*uncommon_trap*'
-- tells:
select sum(iif(side = 'slow', compiled * per_second, 0)) as compiled,
       sum(iif(side = 'against', compiled * per_second, 0)) as against_compiled from w_jvm_compiler
-- test claims: a branch that flips
-- budget* state=user kind=interpreted function=Main.work slow=6 against=0.5
-- budget* state=user path=;Main.work;Deoptimization::uncommon_trap; slow=2
-- budget state=user kind=jit function=Main.other slow=1 against=1
-- w_jvm_deoptimization side=slow reason=unstable_if count=400 per_second=1
-- w_jvm_deoptimization side=against reason=unstable_if count=2 per_second=1
-- w_jvm_compiler side=slow compiled=40 per_second=1
-- says 'because of unstable_if'
-- test refuses: a few, as at each start
-- budget state=user kind=interpreted function=Main.work slow=6 against=0.5
-- w_jvm_deoptimization side=slow reason=unstable_if count=5 per_second=1
