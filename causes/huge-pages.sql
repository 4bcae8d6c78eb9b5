-- cause huge-pages: memory is in small pages: looking up addresses misses the TLB
-- layer: code
-- page: profiles memory
-- needs: thread_time sample instruction_sample code meminfo
-- against: yes
-- before: memory-bound
-- says: {subject:fn} waits longer for memory[[ ({each:s} a round of its loop, baseline {each_before:s})]]: {huge:B} are
--   in huge pages, of the baseline {against_huge:B}
-- evidence: memory of programs: {memory:B}, of it in huge pages {part:%} (baseline {against_part:%})
-- evidence: set differently: {settings}
-- evidence: sampled: waiting for loads and stores takes {wait:s} per unit of work (baseline {wait_before:s})
-- check: grep -i huge /proc/meminfo; AnonHugePages in /proc/PID/smaps_rollup; perf stat -e dTLB-load-misses
-- try: -XX:+UseTransparentHugePages or -XX:+UseLargePages (JVM), madvise(MADV_HUGEPAGE), malloc's
--   glibc.malloc.hugetlb=1; else echo always > /sys/kernel/mm/transparent_hugepage/enabled
-- experiment: setting /sys/kernel/mm/transparent_hugepage/enabled: x1 always
-- see: Documentation/admin-guide/mm/transhuge.rst
-- when:
-- A TLB of some 1,500 entries covers 6 MB in small pages and 3 GB in huge ones: less memory than 64 MB is not the story.
with pages as materialized (
    select mean(iif(side = 'slow', huge, null), seconds) as huge,
           mean(iif(side = 'against', huge, null), seconds) as against_huge,
           mean(iif(side = 'slow', memory, null), seconds) as memory,
           mean(iif(side = 'against', memory, null), seconds) as against_memory
    from (select side, seconds, sum(iif(field in ('AnonHugePages', 'Hugetlb'), value, 0)) as huge,
                 sum(iif(field in ('AnonPages', 'Hugetlb'), value, 0)) as memory
          from w_meminfo where field in ('AnonHugePages', 'AnonPages', 'Hugetlb') group by run, side, t)
)
select ramp(against_huge - huge, 64e6, 192e6) * ramp(against_huge / against_memory - huge / memory, 0.15, 0.35)
           as score,
       huge, against_huge, memory, 100 * huge / memory as part, 100 * against_huge / against_memory as against_part,
       (select group_concat(name || ' ' || coalesce(slow, 'not read') || ' (baseline ' || coalesce(against, 'not read')
                            || ')', ', ')
        from fact_change
        where name glob '*HugePages' or name glob '*LargePages' or name glob '*.thp.*'
           or name glob '*transparent_hugepage*' or name glob '*nr_hugepages*') as settings
from pages
-- claims:
-- Rounds of a loop that take longer tell it by themselves. Where pages were also set differently, it is enough that
-- more samples wait for memory: by more than the 95 % interval of their ratio.
with grown_rounds as materialized (
    select function, (slow_ns - against_ns) * slow_rounds / 1e9 as more, grown(slow_ns, against_ns, 1.07, 1.2) as score
    from loop_rate where slow_bound = 'memory' and apart = 1 and slow_ns > against_ns
),
waits as materialized (
    select function, sum(slow) as slow, sum(against) as against, sum(slow_samples) as slow_samples,
           sum(against_samples) as against_samples
    from instruction_wait where wait in ('load', 'store') group by function
    having sum(slow_samples) >= 30 and sum(against_samples) >= 30
),
grown_waits as materialized (
    select function, slow - against as more,
           grown(slow, against * poisson_factor(slow_samples, against_samples), 1.0, 1.1) as score
    from waits where slow > against and (select settings from given) is not null
),
grown_functions as materialized (
    select function, more, score from grown_rounds
    union all select function, more, score from grown_waits
),
cells as materialized (
    select function, sum(slow - against) as growth from budget
    where state = 'user' and aside = 0 and fresh = 0 group by function having growth > 0
)
select coalesce(b.focus, b.function) as subject, b.cell, max(g.score * min(1.0, g.more / c.growth)) as part
from budget b join grown_functions g on g.function = b.function join cells c on c.function = b.function
where b.state = 'user' and b.aside = 0 and b.fresh = 0 and b.slow > b.against
group by b.cell
-- tells:
select coalesce(b.focus, b.function) as subject, l.slow_ns / 1e9 as each, l.against_ns / 1e9 as each_before,
       (select sum(slow) from instruction_wait w where w.function = b.function and wait in ('load', 'store'))
           as wait,
       (select sum(against) from instruction_wait w where w.function = b.function and wait in ('load', 'store'))
           as wait_before,
       max(b.slow - b.against)
from claimed d join budget b on b.cell = d.cell
left join loop_rate l on l.function = b.function and l.apart = 1 group by 1
-- test claims: the baseline has its table in huge pages
-- budget* state=user function=find focus=find slow=5 against=3
-- budget state=user function=parse focus=parse slow=2 against=1
-- loop_rate function=find slow_ns=100 against_ns=60 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=memory
-- w_meminfo side=slow run=slow field=AnonHugePages value=0 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
-- fact_change name=runtime.java.Main.flag.UseTransparentHugePages slow=default against='true (command line)'
-- says '`find()` waits longer for memory (100 ns a round of its loop, baseline 60 ns): 0 B are in huge pages, of the baseline 1.40 GiB'
-- test claims: no loop was timed, but pages were set differently
-- budget* state=user function=find focus=find slow=5 against=3
-- budget state=user function=parse focus=parse slow=2 against=1
-- instruction_wait function=find wait=load slow=4.5 against=2.6 slow_samples=450 against_samples=450
-- w_meminfo side=slow run=slow field=AnonHugePages value=0 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
-- fact_change name=runtime.java.Main.flag.UseTransparentHugePages slow=default against='true (command line)'
-- says '`find()` waits longer for memory: 0 B are in huge pages, of the baseline 1.40 GiB'
-- test refuses: no loop was timed, and nothing says that pages were set differently
-- budget state=user function=find focus=find slow=5 against=3
-- instruction_wait function=find wait=load slow=4.5 against=2.6 slow_samples=450 against_samples=450
-- w_meminfo side=slow run=slow field=AnonHugePages value=0 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
-- test refuses: what grew does not wait for memory
-- budget state=user function=find focus=find slow=5 against=3
-- instruction_wait function=find wait=core slow=4.5 against=2.6 slow_samples=450 against_samples=450
-- instruction_wait function=find wait=load slow=0.5 against=0.4 slow_samples=50 against_samples=70
-- w_meminfo side=slow run=slow field=AnonHugePages value=0 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
-- fact_change name=runtime.java.Main.flag.UseTransparentHugePages slow=default against='true (command line)'
-- test refuses: both have it in huge pages
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=100 against_ns=20 slow_rounds=5e7 against_rounds=5e7 apart=1 slow_bound=memory
-- w_meminfo side=slow run=slow field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
-- test refuses: the loop waits no longer
-- budget state=user function=find focus=find slow=5 against=1
-- loop_rate function=find slow_ns=20 against_ns=20 slow_rounds=25e7 against_rounds=5e7 apart=0 slow_bound=memory
-- w_meminfo side=slow run=slow field=AnonHugePages value=0 seconds=5 t=5
-- w_meminfo side=slow run=slow field=AnonPages value=2e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonHugePages value=1.5e9 seconds=5 t=5
-- w_meminfo side=against run=against field=AnonPages value=2e9 seconds=5 t=5
