-- cause slow-clock: reading the clock is slow, or done too often
-- layer: kernel
-- page: calls profiles
-- needs: thread_time sample syscall
-- yields: explicit-gc mm-lock process-creation swap tlb-shootdown
-- says: reading the clock takes {slow:s} per unit of work (baseline {against:s})
-- evidence: system calls to read the clock per unit of work: {slow_count} (baseline {against_count})
-- evidence: clock source: {source}
-- check: cat /sys/devices/system/clocksource/clocksource0/current_clocksource; twinscope doctor --only clock
-- try: clock source tsc if the machine has a stable one (echo tsc >
--   /sys/devices/system/clocksource/clocksource0/current_clocksource)
-- try: CLOCK_MONOTONIC_COARSE if a millisecond is enough; read it once per batch; clocks other than REALTIME, MONOTONIC
--   and TAI are always system calls
-- experiment: setting /sys/devices/system/clocksource/clocksource0/current_clocksource: x1 tsc
-- see: vdso(7), clock_gettime(2)
-- claims:
select 'asking for the time' as subject, cell, 1.0 as part from budget
where state in ('user', 'kernel') and (call_group(request) = 'clock' or has_role(roles, 'clock') or module = '[vdso]')
-- tells:
select (select sum(slow_count) from syscall_use where call_group(call) = 'clock') as slow_count,
       (select sum(against_count) from syscall_use where call_group(call) = 'clock') as against_count,
       (select max(value) from fact where name glob '*clocksource*' and name not glob '*available*'
            and run in (select run from side where side = 'slow')) as source
-- test claims: a call of the kernel for each look
-- syscall_use call=clock_gettime slow_count=100 against_count=1
-- budget* state=kernel request=clock_gettime slow=3
-- budget state=kernel request=read slow=1
-- says 'reading the clock takes 3 s per operation (baseline 0 s)'
-- test refuses: timers are set
-- syscall_use call=timer_settime slow_count=100 against_count=1
-- budget state=kernel request=timer_settime path=;main;timer_settime; slow=3
