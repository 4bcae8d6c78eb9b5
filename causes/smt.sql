-- cause smt: another thread of the core takes part of its units (SMT)
-- layer: scheduling
-- page: cpu
-- needs: thread_time cpu_speed
-- against: yes
-- yields: all
-- says: the cores did {slow_width} additions a cycle (baseline {against_width}): another thread of the same core takes
--   the rest
-- evidence: {how}: {lack_low} to {lack_high} % less (95 % CI), by loops of some microseconds on each CPU
-- evidence: estimated: a program loses at most as much of its speed; one that waits for memory loses less
-- evidence: CPU time per unit of work: {slow:s} (baseline {against:s})
-- check: lscpu: Thread(s) per core; twinscope doctor --only cpu-pairs,frequency; the table cpu_speed. In a virtual
--   machine the thread may be a neighbour's on the host, which steal does not show
-- try: as many busy threads as there are cores; one thread a core for what must be fast (taskset, or nosmt); in a
--   virtual machine a type that gives whole cores, a dedicated host, or another instance
-- see: Documentation/admin-guide/cputopology.rst; docs/machines.md
-- when:
-- How wide a core is wavers with whoever runs beside: it is judged by the end of the interval that says least.
select ramp(lack, 0.06, 0.15) * ramp(lack_low, 0.02, 0.06) as score, slow as slow_width,
       against as against_width, lack, how, round(100 * lack_low) as lack_low,
       round(100 * lack_high) as lack_high
from core_speed where what = 'width' and lack > 0
-- claims:
select 'core' as subject, cell, min(1.0, lack * slow / (slow - against)) as part
from budget, given where state in ('user', 'kernel') and slow > against
-- test claims: a neighbour on the sibling thread
-- core_speed what=width how=sampled slow=2.1 against=3.7 lack=0.43 lack_low=0.4 lack_high=0.46
-- core_speed what=frequency how=sampled slow=3.6e9 against=3.6e9 lack=0.0 lack_low=-0.01 lack_high=0.01
-- budget* state=user slow=3 against=2
-- budget* state=kernel slow=2 against=1
-- budget state=lock slow=2
-- says 'the cores did 2.10 additions a cycle (baseline 3.70)'
-- test refuses: it comes and goes on both sides
-- core_speed what=width how=sampled slow=2.6 against=3.1 lack=0.16 lack_low=-0.1 lack_high=0.4
-- budget state=user slow=3 against=2
-- test refuses: only the frequency is lower
-- core_speed what=frequency how=sampled slow=2.1e9 against=3.7e9 lack=0.43 lack_low=0.4 lack_high=0.46
-- budget state=user slow=3 against=2
