-- cause cold-cache: data is read from disk that the baseline found in the page cache
-- layer: io
-- page: disks memory
-- needs: thread_time
-- against: yes
-- yields: busy-wait gc lock-contention memory-reclaim safepoints sync-writes timers
-- says: {slow_bytes:B} read from disk per unit of work (baseline {against_bytes:B}), for the same reads by the program
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: the program itself read {slow_chars:B} per unit of work (baseline {against_chars:B})
-- evidence: page faults that waited for a disk, per second: {slow_faults} (baseline {against_faults})
-- check: vmtouch FILE; iostat -x 1; twinscope flame SLOW.twin --state disk
-- try: read ahead (posix_fadvise, MAP_POPULATE, vmtouch -t), warm up before measuring, more memory for the page cache
-- experiment: setting /proc/sys/vm/drop_caches: 0 3
-- see: Documentation/admin-guide/sysctl/vm.rst (drop_caches)
-- when:
select grown(r.slow, r.against, 1.6, 2.4) * ramp(r.slow_rate, 2e5, 3.2e5)
       -- The program asks for no more than before, or reads by other means than read(2).
       * max(ramp(-c.slow / c.against, -1.7, -1.3), ramp(-c.slow / r.slow, -0.6, -0.4), c.slow is null)
       -- What is swapped in is read, too.
       * ramp(-coalesce(4096 * s.slow_rate, 0) / r.slow_rate, -0.6, -0.4) as score,
       r.slow as slow_bytes, coalesce(r.against, 0) as against_bytes, c.slow as slow_chars, c.against as against_chars,
       f.slow_rate as slow_faults, f.against_rate as against_faults
from total r left join total c on c.metric = 'process.read_chars' left join total s on s.metric = 'vmstat.pswpin'
     left join total f on f.metric = 'process.major_faults'
where r.metric = 'process.read_bytes'
-- claims:
select 'page cache' as subject, cell, 1.0 as part from budget
where state in ('disk', 'fault') and not has_role(roles, 'flush')
   or state in ('kernel', 'lock') and has_role(roles, 'kernel.page-cache')
-- test claims: the same reads, from the disk
-- total metric=process.read_bytes slow=1e6 against=1e3 slow_rate=1e7
-- total metric=process.read_chars slow=1e6 against=1e6
-- budget* state=disk request=read slow=5
-- budget* state=kernel request=read path=;main;read;filemap_read; slow=1
-- budget state=user slow=1 against=1
-- test refuses: the program reads more
-- total metric=process.read_bytes slow=1e6 against=1e3 slow_rate=1e7
-- total metric=process.read_chars slow=1e6 against=1e3
-- budget state=disk request=read slow=5
-- test refuses: what is read is swap
-- total metric=process.read_bytes slow=1e6 against=1e3 slow_rate=1e7
-- total metric=vmstat.pswpin slow_rate=2000
-- budget state=fault slow=5
