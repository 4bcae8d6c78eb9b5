-- cause dirty-throttling: threads that write are held back until dirty pages are written to disk
-- layer: io
-- page: disks memory
-- needs: thread_time vmstat
-- before: disk-bandwidth disk-latency log-volume syscalls sync-writes memory-limit
-- says: writers are held back for {slow:s} per unit of work (baseline {against:s}): more memory is dirty than the kernel
--   allows
-- evidence: pages made dirty: {slow_dirtied:1/s} (baseline {against_dirtied:1/s}), written: {slow_written:1/s}
-- check: grep -E '^nr_dirty|threshold' /proc/vmstat; perf trace -e writeback:balance_dirty_pages
-- try: write less, or evenly; a faster disk; higher vm.dirty_bytes and vm.dirty_background_bytes only help with bursts
-- try: of one control group with little memory, a higher memory.max: the limit counts for its dirty pages as well
-- experiment: setting /proc/sys/vm/dirty_background_ratio: x1 x0.5
-- experiment: setting /proc/sys/vm/dirty_ratio: x1 x2
-- see: Documentation/admin-guide/sysctl/vm.rst (dirty_bytes)
-- claims:
select 'writers' as subject, cell, 1.0 as part from budget
where path glob '*;balance_dirty_pages*' or what glob 'balance_dirty_pages*'
-- tells:
select d.slow_rate as slow_dirtied, d.against_rate as against_dirtied, w.slow_rate as slow_written
from total d left join total w on w.metric = 'vmstat.nr_written' where d.metric = 'vmstat.nr_dirtied'
-- test claims: a program that writes faster than the disk
-- budget* state=disk what=balance_dirty_pages path=';main;save;write;ext4_file_write_iter;balance_dirty_pages;' slow=4
-- budget state=kernel path=';main;save;write;ext4_file_write_iter;' request=write slow=1 against=1
-- total metric=vmstat.nr_dirtied slow=10 against=1 slow_rate=100 against_rate=10
-- says 'writers are held back for 4 s per operation (baseline 0 s)'
-- test refuses: a wait for a sync
-- budget state=disk what=jbd2_log_wait_commit path=';main;save;fsync;jbd2_log_wait_commit;' request=fsync slow=4
