-- cause memory-limit: a control group is at its memory limit
-- layer: kernel
-- page: containers memory
-- needs: thread_time cgroup_memory
-- yields: explicit-gc mm-lock process-creation swap tlb-shootdown
-- says: {subject} is at its memory limit of {limit:B}: its threads reclaim memory and refault file pages
-- evidence: reclaim and refaults per unit of work: {slow:s} (baseline {against:s})
-- evidence: in use {current:B} of {limit:B}
-- evidence: refaults of file pages: {slow_refault:1/s} (baseline {against_refault:1/s})
-- check: cat memory.events memory.pressure memory.stat in the control group
-- try: a higher memory.max or memory.high, or less memory: heap sizes, caches, files written with O_DIRECT
-- experiment: setting /sys/fs/cgroup/GROUP/memory.max: x1 x2
-- see: Documentation/admin-guide/cgroup-v2.rst (memory)
-- when:
with refaults as materialized (
    select max(slow_rate) as slow, max(coalesce(against_rate, 0)) as against from total
    where metric in ('vmstat.workingset_refault_file', 'vmstat.workingset_refault_anon', 'vmstat.pswpin')
)
-- Of the groups that the workload is in, and those above them: a parent's limit counts for its children, too.
select ramp(max(w.current * 1.0 / w.max), 0.85, 0.95) as score, w.path as full, w.max as "limit",
       max(w.current) as current, r.slow as slow_refault, r.against as against_refault,
       ramp(r.slow, 70, 130) * grown(r.slow, r.against, 1.3, 1.7) as refaulting
from w_cgroup_memory w join own_cgroup o on o.run = w.run and o.path = w.path, refaults r
where w.side = 'slow' and w.max > 0
group by w.path order by max(w.current * 1.0 / w.max) desc limit 1
-- claims:
select given.full as subject, cell,
       iif(has_role(roles, 'kernel.memcg') or path glob '*;try_charge_memcg;*reclaim*' or path glob '*;shrink_*',
           1.0, refaulting) as part
from budget, given
where has_role(roles, 'kernel.memcg') or path glob '*;try_charge_memcg;*reclaim*' or path glob '*;shrink_*'
   or state in ('disk', 'fault')
   or state in ('kernel', 'lock', 'other') and (has_role(roles, 'kernel.page-cache') or request = 'page fault')
-- test claims: its own group is full, as is another
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- w_cgroup_memory run=slow side=slow path=/pods/a max=1000 current=990
-- w_cgroup_memory run=slow side=slow path=/pods/b max=1000 current=1000
-- total metric=vmstat.workingset_refault_file slow_rate=5000 against_rate=0
-- budget* state=disk slow=5
-- budget* state=kernel path=;read;filemap_read;shrink_lruvec; slow=1
-- budget state=user slow=1 against=1
-- says '/pods/a is at its memory limit'
-- test claims: the limit of a parent
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- own_cgroup run=slow side=slow path=/pods above=1
-- w_cgroup_memory run=slow side=slow path=/pods max=1000 current=990
-- w_cgroup_memory run=slow side=slow path=/pods/a current=900
-- total metric=vmstat.workingset_refault_file slow_rate=5000 against_rate=0
-- budget* state=disk slow=5
-- says '/pods is at its memory limit'
-- test refuses: somebody else's group is full
-- own_cgroup run=slow side=slow path=/pods/a above=0
-- w_cgroup_memory run=slow side=slow path=/pods/a max=1000 current=100
-- w_cgroup_memory run=slow side=slow path=/pods/b max=1000 current=1000
-- total metric=vmstat.workingset_refault_file slow_rate=5000 against_rate=0
-- budget state=disk slow=5
