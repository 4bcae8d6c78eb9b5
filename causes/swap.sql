-- cause swap: memory is swapped out and in again
-- layer: kernel
-- page: memory disks
-- needs: thread_time vmstat
-- says: threads wait for swap-in: {slow_in:1/s} pages (baseline {against_in:1/s})
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: pages swapped out: {slow_out:1/s} (baseline {against_out:1/s})
-- check: vmstat 1: si and so; twinscope flame SLOW.twin --state fault
-- try: more memory, or use less: heap sizes, caches, memory.max and memory.high of the control group
-- try: a lower vm.swappiness if only file pages should be reclaimed
-- experiment: setting /proc/sys/vm/swappiness: x1 1
-- see: Documentation/admin-guide/sysctl/vm.rst (swappiness)
-- tail: fault
-- tail-says: slow requests wait {more:s} longer in page faults
-- when:
select ramp(i.slow_rate, 35, 65) * grown(i.slow, i.against, 1.3, 1.7) as score, i.slow_rate as slow_in,
       coalesce(i.against_rate, 0) as against_in, o.slow_rate as slow_out, o.against_rate as against_out
from total i left join total o on o.metric = 'vmstat.pswpout' where i.metric = 'vmstat.pswpin'
-- claims:
select 'swap' as subject, cell, 1.0 as part from budget
where state = 'fault' or has_role(roles, 'kernel.swap') or state in ('disk', 'lock', 'other') and request = 'page fault'
   or state = 'kernel' and (request = 'page fault' or has_role(roles, 'kernel.reclaim'))
-- test claims: memory is read back
-- total metric=vmstat.pswpin slow=100 against=0 slow_rate=1000
-- total metric=vmstat.pswpout slow_rate=900
-- budget* state=fault slow=5
-- budget state=disk request=read slow=1
-- test refuses: a few pages
-- total metric=vmstat.pswpin slow=100 against=0 slow_rate=10
-- budget state=fault slow=5
