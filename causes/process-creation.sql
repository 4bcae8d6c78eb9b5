-- cause process-creation: a process is started for each small piece of work
-- layer: scheduling
-- page: processes
-- needs: thread_time process_exit
-- specific: 8
-- says: {slow_ended} processes started and ended per unit of work (baseline {against_ended}){who}
-- evidence: fork, exec, loading and exit per unit of work: {slow:s} (baseline {against:s})
-- check: execsnoop; perf trace -e execve; twinscope sql SLOW.twin "select comm, parent, sum(ended) from
--   process_exit_rate group by comm, parent order by 3 desc"
-- try: use built-ins of the shell or the language, one long-lived helper, or one process for many pieces of work
--   (xargs, a loop inside awk)
-- see: fork(2), execve(2)
with ended as materialized (select slow as slow_ended, coalesce(against, 0) as against_ended from total
    where metric = 'process_exit.ended' and slow > 1.5 * coalesce(against, 0) and slow_rate > 20),
most as materialized (
    select comm, sum(ended * seconds) as ended from w_process_exit
    where side = 'slow' and parent in (select comm from budget where comm is not null) group by comm
        order by 2 desc limit 4
),
-- What short-lived processes do apart from being started is work as well, and their starting is what others would not
-- need.
short as materialized (select comm from most),
cells as materialized (
    select b.cell, b.slow, b.against from budget b
    where b.state in ('kernel', 'user', 'fault', 'disk', 'other', 'lock', 'pipe')
      and (b.request in ('clone', 'clone3', 'fork', 'vfork', 'execve', 'exit_group', 'exit', 'wait4', 'waitid',
          'pipe2') or b.path glob '*;ret_from_fork*' or b.path glob '*;_dl_*' or b.path glob '*;_start;*'
           or b.path glob '*;do_exit;*' or b.path glob '*;fork*' or b.path glob '*;__libc_fork;*'
               or b.path glob '*;load_elf_binary;*' or b.comm in (select comm from short)
           or b.request in ('page fault', 'mmap', 'munmap', 'mprotect', 'openat', 'close', 'brk'))
       or (b.state = 'idle' and b.share > 0)
       -- The code around it is there for it.
       or (b.state in ('user', 'kernel') and b.focus in (select focus from budget where request in ('clone', 'clone3',
           'fork', 'vfork', 'execve') and focus is not null group by focus having sum(share) > 0.02))
)
select coalesce((select comm from most order by ended desc limit 1), 'processes') as subject, c.cell, 1.0 as part,
    e.slow_ended, e.against_ended,
       coalesce(': mostly ' || (select group_concat(comm, ', ') from (select comm from most
           order by ended desc limit 3)), '') as who, sum(c.slow) over () as slow, sum(c.against) over () as against
from cells c, ended e
-- test claims: a process for each line
-- total metric=process_exit.ended slow=50 against=1 slow_rate=500
-- w_process_exit side=slow comm=date parent=app ended=50 seconds=1
-- budget* state=kernel request=execve slow=3
-- budget* comm=date thread=date state=user slow=1
-- budget state=user slow=1 against=1
-- says 'mostly date'
-- test refuses: a few
-- total metric=process_exit.ended slow=50 against=1 slow_rate=5
-- budget state=kernel request=execve slow=3
