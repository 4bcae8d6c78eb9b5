-- cause process-creation: a process is started for each small piece of work
-- layer: scheduling
-- page: processes
-- needs: thread_time process_exit
-- says: {slow_ended} processes started and ended per unit of work (baseline {against_ended})[[: mostly {who}]]
-- evidence: CPU time of fork, exec and exit per process: {slow_each:s} (baseline {against_each:s})
-- evidence: fork, exec, loading and exit per unit of work: {slow:s} (baseline {against:s})
-- check: execsnoop; perf trace -e execve; twinscope sql SLOW.twin "select comm, parent, sum(ended) from
--   process_exit_rate group by comm, parent order by 3 desc"
-- try: use built-ins of the shell or the language, one long-lived helper, or one process for many pieces of work
--   (xargs, a loop inside awk)
-- try: where workers are forked for each piece of work, a pool of workers that stays; in a database, parallel queries
--   for large tables only
-- try: from a process with much memory, vfork or posix_spawn: fork copies its page tables
-- see: fork(2), execve(2)
-- when:
with most as materialized (
    select comm, sum(ended * seconds) as ended from w_process_exit
    where side = 'slow' and parent in (select comm from budget where comm is not null) group by comm
    order by 2 desc limit 4
)
-- More of them, or each costs more: a fork copies the tables of all memory that its process has.
select max(grown(t.slow, t.against, 1.3, 1.7), grown(c.slow, c.against, 1.3, 1.7) * ramp(c.share, 0.05, 0.15))
       * ramp(t.slow_rate, 14, 26) as score,
       t.slow as slow_ended, coalesce(t.against, 0) as against_ended,
       c.slow / nullif(t.slow, 0) as slow_each, c.against / nullif(t.against, 0) as against_each,
       (select group_concat(comm, ', ') from (select comm from most order by ended desc limit 3)) as who
from total t, (select coalesce(sum(slow), 0) as slow, coalesce(sum(against), 0) as against,
                      coalesce(sum(share), 0) as share
               from budget where state = 'kernel' and call_group(request) = 'process') c
where t.metric = 'process_exit.ended'
-- claims:
with
-- What short-lived programs do apart from being started is work as well, and their starting is what others would not
-- need. One that has its parent's name was forked and runs on: to start it is the fork, and what it does is work.
short as materialized (
    select comm, sum(ended * seconds) as ended from w_process_exit
    where side = 'slow' and parent in (select comm from budget where comm is not null) group by comm
    having sum(iif(comm = parent, ended, 0) * seconds) < 0.5 * sum(ended * seconds)
    order by 2 desc limit 4
),
-- The code around it is there for it.
places as materialized (
    select focus, ramp(sum(share), 0.01, 0.03) as score from budget
    where call_group(request) = 'process' and focus is not null group by focus
)
select coalesce((select comm from short order by ended desc limit 1), 'processes') as subject, b.cell,
       iif(b.state in ('user', 'kernel')
           and not (call_group(b.request) in ('process', 'map') or has_role(b.roles, 'process')
                    or b.request in ('page fault', 'mprotect', 'pipe2', 'openat', 'close')
                    or coalesce(b.comm in (select comm from short), 0)),
           p.score, 1.0) as part
from budget b left join places p on p.focus = b.focus
where b.state in ('kernel', 'user', 'fault', 'disk', 'other', 'lock', 'pipe')
      and (call_group(b.request) in ('process', 'map') or has_role(b.roles, 'process')
           or b.request in ('page fault', 'mprotect', 'pipe2', 'openat', 'close')
           or b.comm in (select comm from short))
   or b.state = 'idle' and b.share > 0
   or b.state in ('user', 'kernel') and p.score > 0
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
-- test refuses: workers that are forked and do the work
-- total metric=process_exit.ended slow=2 against=0.01 slow_rate=30
-- w_process_exit side=slow comm=postgres parent=postgres ended=30 seconds=1
-- budget comm=postgres thread=postgres state=user slow=60 against=1
