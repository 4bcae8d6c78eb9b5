-- cause noisy-neighbour: other programs use the CPUs
-- layer: scheduling
-- page: processes cpu
-- needs: thread_time cpu process
-- yields: cpu-affinity gc lock-contention safepoints
-- says: [[the load generator, {generator}, shares the CPUs: ]]other programs use {slow_others} CPUs (baseline {against_others})[[, first of all {who}]][[; the command started {started}]]
-- evidence: run-queue wait behind them per unit of work: {slow:s} (baseline {against:s})
-- check: pidstat -u 1; top
-- try: give the workload CPUs of its own (cpusets, taskset), or more weight (cpu.weight, nice)
-- try: move {neighbour} to another machine
-- try: run {generator} on another machine, or on CPUs of its own on both sides, as many each time
-- experiment: setting /sys/fs/cgroup/GROUP/cpu.weight: x1 x10
-- see: sched(7)
-- when:
with names as materialized (
    select comm, sum(iif(side = 'slow', cpu_time * per_second, -cpu_time * per_second)) as more
    from w_process where comm not in (select distinct comm from budget where comm is not null)
    group by comm order by 2 desc limit 1
),
-- A program that the command itself started can be one too: then it is in the way of threads that do what they did
-- before.
started as materialized (
    select group_concat(comm, ', ') as comm, sum(slow_cpu) / (select slow from measure where name = 'elapsed') as cpus,
           (select max(ramp((slow_runnable - against_runnable) / nullif(e.slow - e.against, 0), 0.3, 0.5)
                       * ramp(-slow_cpu / against_cpu, -1.4, -1.2))
            from thread_group, measure e where e.name = 'elapsed' and slow_cpu > 0) as score
    from stranger having count(*) > 0
)
select max(coalesce(s.score, 0), ramp(o.slow, 0.1, 0.2)
           * ramp(coalesce(o.slow - 1.2 * o.against, 1e9), 0.05, 0.15)) as score,
       coalesce(s.cpus, 0) + o.slow as slow_others, coalesce(o.against, 0) as against_others,
       iif(s.score > 0, s.comm, n.comm) as who, coalesce(s.score > 0, 0) as is_started
from measure o left join started s left join names n on n.more > 0.05 where o.name = 'others'
-- claims:
select coalesce(who, 'other programs') as subject, cell, 1.0 as part from budget, given
where state = 'neighbours'
   or is_started and (state = 'runnable' or comm in (select comm from stranger) and share > 0)
-- tells:
with
-- Who asks the ports that the workload serves wakes its threads by that.
asker as materialized (
    select waker as comm from wait_use
    where waker not in (select comm from budget where comm is not null)
    group by waker having sum(slow_count) > 0.02 * (select sum(slow_turns) from turn_use where role = 'server')
)
select iif(is_started, who, null) as started, iif(a.comm is null, null, who) as generator,
       iif(a.comm is null and not is_started, coalesce(who, 'what runs beside it'), null) as neighbour
from given left join asker a on a.comm = who
-- test claims: another program takes a CPU
-- measure name=others slow=1 against=0.1
-- w_process side=slow comm=rustc cpu_time=0.9 per_second=1
-- budget* state=neighbours slow=3
-- budget state=runnable slow=1
-- says 'first of all rustc'
-- silent 'load generator'
-- says 'move rustc to another machine'
-- test claims: the client of a port that is served makes the load
-- measure name=others slow=1 against=0.1
-- w_process side=slow comm=wrk cpu_time=0.9 per_second=1
-- turn_use role=server place='port 80' slow_turns=1
-- wait_use comm=nginx state=idle waker=wrk slow_count=0.5
-- budget* state=neighbours comm=nginx slow=3
-- says 'the load generator, wrk, shares the CPUs: other programs use 1 CPUs'
-- silent 'move wrk'
-- test refuses: it was there before
-- measure name=others slow=1 against=0.9
-- w_process side=slow comm=rustc cpu_time=0.9 per_second=1
-- w_process side=against comm=rustc cpu_time=0.8 per_second=1
-- budget state=neighbours slow=3
