-- cause memory-limit: a control group is at its memory limit
-- layer: kernel
-- page: containers memory
-- needs: thread_time cgroup_memory
-- specific: 7
-- says: {subject} is at its memory limit of {limit:B}: its threads reclaim memory and refault file pages
-- evidence: reclaim and refaults per unit of work: {slow:s} (baseline {against:s})
-- evidence: in use {current:B} of {limit:B}
-- evidence: refaults of file pages: {slow_refault:1/s} (baseline {against_refault:1/s})
-- check: cat memory.events memory.pressure memory.stat in the control group
-- try: a higher memory.max or memory.high, or less memory: heap sizes, caches, files written with O_DIRECT
-- see: Documentation/admin-guide/cgroup-v2.rst (memory)
with
-- Of the groups that the workload is in, and those above them: a parent's limit counts for its children, too.
groups as materialized (
    select w.path as path, max(w.max) as most, max(w.current) as current, max(w.current * 1.0 / w.max) as fill
    from w_cgroup_memory w join own_cgroup o on o.run = w.run and o.path = w.path where w.side = 'slow' and w.max > 0
        group by w.path
),
full as materialized (select path, most, current from groups where fill > 0.9 order by fill desc limit 1),
refault as materialized (select max(slow_rate) as slow_rate, max(coalesce(against_rate, 0)) as against_rate from total
    where metric in ('vmstat.workingset_refault_file', 'vmstat.workingset_refault_anon', 'vmstat.pswpin')),
swapped as (select coalesce(max(slow_rate > 50 and slow > 1.5 * coalesce(against, 0)), 0) as much from total
    where metric = 'vmstat.pswpin')
select f.path as subject, b.cell, 1.0 as part, f.most as "limit", f.current, r.slow_rate as slow_refault,
    r.against_rate as against_refault, sum(b.slow) over () as slow, sum(b.against) over () as against
from budget b, full f, refault r, swapped
where b.path glob '*try_to_free_mem_cgroup*' or b.path glob '*mem_cgroup_handle_over_high*'
    or b.path glob '*;try_charge_memcg;*reclaim*' or b.path glob '*;shrink_*' or b.path glob '*reclaim_high*'
   or (r.slow_rate > 100 and r.slow_rate > 1.5 * r.against_rate
       and (b.state in ('disk', 'fault') or (b.state in ('kernel', 'lock', 'other') and (b.path glob '*;filemap_*'
       or b.path glob '*page_cache_ra*' or b.request = 'page fault'))))
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
