-- cause cpu-frequency: the CPUs run at a lower frequency
-- layer: code
-- page: cpu
-- needs: thread_time cpufreq
-- against: yes
-- yields: all
-- says: the CPUs ran at {slow_frequency:Hz} (baseline {against_frequency:Hz})
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: turbostat; cpupower frequency-info; cat /sys/devices/system/cpu/cpu0/thermal_throttle/*
-- try: governor performance; cooling and power limits; fewer busy siblings and vector units if turbo depends on them
-- see: Documentation/admin-guide/pm/cpufreq.rst
-- when:
-- A CPU second at a lower frequency does less by that much; what CPU time grew by beyond that is another cause's.
select ramp((against_rate - slow_rate) / against_rate, 0.03, 0.07) as score, slow_rate as slow_frequency,
       against_rate as against_frequency, (against_rate - slow_rate) / against_rate as lack
from total where metric = 'cpufreq.frequency' and slow_rate < against_rate
-- claims:
select 'frequency' as subject, cell, min(1.0, lack * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: a third of the frequency
-- total metric=cpufreq.frequency slow_rate=1e9 against_rate=3e9
-- budget* state=user slow=3 against=1
-- budget state=user path=;main;other; slow=1 against=1
-- budget state=lock slow=2
-- says 'the CPUs ran at 1 GHz (baseline 3 GHz)'
-- test refuses: nearly the same
-- total metric=cpufreq.frequency slow_rate=2.95e9 against_rate=3e9
-- budget state=user slow=3 against=1
