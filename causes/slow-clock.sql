-- cause slow-clock: reading the clock is slow, or done too often
-- layer: kernel
-- page: calls profiles
-- needs: thread_time sample syscall
-- specific: 7
-- says: reading the clock takes {slow:s} per unit of work (baseline {against:s})
-- evidence: system calls to read the clock per unit of work: {slow_count} (baseline {against_count})
-- evidence: clock source: {source}
-- check: cat /sys/devices/system/clocksource/clocksource0/current_clocksource; twinscope doctor --only clock
-- try: clock source tsc if the machine has a stable one (echo tsc >
--   /sys/devices/system/clocksource/clocksource0/current_clocksource)
-- try: CLOCK_MONOTONIC_COARSE if a millisecond is enough; read it once per batch; clocks other than REALTIME, MONOTONIC
--   and TAI are always system calls
-- experiment: clock source
-- see: vdso(7), clock_gettime(2)
with calls as materialized (
    select sum(slow_count) as slow_count, sum(against_count) as against_count from syscall_use
        where call in ('clock_gettime', 'gettimeofday', 'time')
),
cells as materialized (
    select cell, slow, against from budget
    where state in ('user', 'kernel')
      and (request in ('clock_gettime', 'gettimeofday', 'time')
          or function in ('read_hpet', 'acpi_pm_read', 'xen_clocksource_read', 'kvm_clock_get_cycles',
          '__vdso_clock_gettime', '__vdso_gettimeofday', '__vdso_time')
           or path glob '*;__vdso_clock_gettime;*' or path glob '*;__vdso_gettimeofday;*'
               or path glob '*clock_gettime*' or module = '[vdso]')
),
facts as (select max(iif(name glob '*clocksource*' and name not glob '*available*', value, null)) as source from fact
    where run in (select run from side where side = 'slow'))
select 'asking for the time' as subject, c.cell, 1.0 as part, sum(c.slow) over () as slow,
    sum(c.against) over () as against, k.slow_count, k.against_count, f.source
from cells c, calls k, facts f
-- test claims: a call of the kernel for each look
-- syscall_use call=clock_gettime slow_count=100 against_count=1
-- budget* state=kernel request=clock_gettime slow=3
-- budget state=kernel request=read slow=1
-- says 'reading the clock takes 3 s per operation (baseline 0 s)'
-- test refuses: timers are set
-- syscall_use call=timer_settime slow_count=100 against_count=1
-- budget state=kernel request=timer_settime path=;main;timer_settime; slow=3
