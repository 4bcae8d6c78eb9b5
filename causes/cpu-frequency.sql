-- cause cpu-frequency: the CPUs run at a lower frequency
-- layer: code
-- page: cpu
-- needs: thread_time cpufreq|cpu_speed
-- against: yes
-- yields: all
-- says: the CPUs ran at {slow_frequency:Hz} (baseline {against_frequency:Hz})
-- evidence: {how}: {lack_low} to {lack_high} % less (95 % CI)
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: turbostat; cpupower frequency-info; cat /sys/devices/system/cpu/cpu0/thermal_throttle/*;
--   twinscope doctor --only frequency
-- try: governor performance; cooling and power limits; fewer busy siblings and vector units if turbo depends on them;
--   in a virtual machine another instance, or another type
-- see: Documentation/admin-guide/pm/cpufreq.rst; docs/machines.md
-- when:
-- A CPU second at a lower frequency does less by that much; what CPU time grew by beyond that is another cause's. It is
-- judged by the end of the interval that says least.
select ramp(lack, 0.03, 0.07) * ramp(lack_low, 0.005, 0.02) as score, slow as slow_frequency,
       against as against_frequency, lack, how, round(100 * lack_low, 1) as lack_low,
       round(100 * lack_high, 1) as lack_high
from core_speed where what = 'frequency' and lack > 0
-- claims:
select 'frequency' as subject, cell, min(1.0, lack * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: a third of the frequency
-- core_speed what=frequency how=counted slow=1e9 against=3e9 lack=0.667 lack_low=0.65 lack_high=0.68
-- budget* state=user slow=3 against=1
-- budget state=user path=;main;other; slow=1 against=1
-- budget state=lock slow=2
-- says 'the CPUs ran at 1 GHz (baseline 3 GHz)'
-- test claims: measured by loops, in a virtual machine
-- core_speed what=frequency how=sampled slow=2.7e9 against=3e9 lack=0.1 lack_low=0.08 lack_high=0.12
-- budget* state=user slow=3 against=1
-- test refuses: nearly the same
-- core_speed what=frequency how=counted slow=2.95e9 against=3e9 lack=0.017 lack_low=0.01 lack_high=0.02
-- budget state=user slow=3 against=1
-- test refuses: less on average, by chance
-- core_speed what=frequency how=sampled slow=2.7e9 against=3e9 lack=0.1 lack_low=-0.05 lack_high=0.2
-- budget state=user slow=3 against=1
-- test refuses: as fast, with less of the core
-- core_speed what=width how=sampled slow=2.1 against=3.7 lack=0.43 lack_low=0.4 lack_high=0.46
-- budget state=user slow=3 against=1
