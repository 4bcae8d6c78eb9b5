-- cause cold-cache: data is read from disk that the baseline found in the page cache
-- layer: io
-- page: disks memory
-- needs: thread_time
-- specific: 5
-- against: yes
-- says: {slow_bytes:B} read from disk per unit of work (baseline {against_bytes:B}), for the same reads by the program
-- evidence: wait time per unit of work: {slow:s} (baseline {against:s})
-- evidence: the program itself read {slow_chars:B} per unit of work (baseline {against_chars:B})
-- evidence: page faults that waited for a disk, per second: {slow_faults} (baseline {against_faults})
-- check: vmtouch FILE; iostat -x 1; twinscope flame SLOW.twin --state disk
-- try: read ahead (posix_fadvise, MAP_POPULATE, vmtouch -t), warm up before measuring, more memory for the page cache
-- experiment: with and without drop_caches
-- see: Documentation/admin-guide/sysctl/vm.rst (drop_caches)
with reads as materialized (
    select r.slow as slow_bytes, coalesce(r.against, 0) as against_bytes, c.slow as slow_chars,
        c.against as against_chars
    from total r left join total c on c.metric = 'process.read_chars'
    where r.metric = 'process.read_bytes' and r.slow > 2 * coalesce(r.against, 0) and r.slow_rate > 262144
      and coalesce(c.slow < 1.5 * c.against or c.slow < 0.5 * r.slow, 1)
),
faults as (select slow_rate as slow_faults, against_rate as against_faults from total
    where metric = 'process.major_faults'),
swap as (select coalesce(max(slow_rate), 0) as pages from total where metric = 'vmstat.pswpin')
select 'page cache' as subject, b.cell, 1.0 as part, r.slow_bytes, r.against_bytes, r.slow_chars, r.against_chars,
    f.slow_faults, f.against_faults,
       sum(b.slow) over () as slow, sum(b.against) over () as against
from budget b, reads r left join faults f, swap
where swap.pages * 4096 < 0.5 * (select slow_rate from total where metric = 'process.read_bytes')
  and (b.state in ('disk', 'fault') and b.path not glob '*sync*'
      or (b.state in ('kernel', 'lock') and (b.path glob '*;filemap_read;*' or b.path glob '*;filemap_get_pages;*'
      or b.path glob '*;filemap_fault;*' or b.path glob '*;page_cache_ra*'
       or b.path glob '*;read_pages;*' or b.path glob '*;filemap_update_page*')))
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
