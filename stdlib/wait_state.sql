-- view wait_state: what threads waited for, over the whole recording
-- run: the run
-- comm: name of the process
-- state: what they waited for: lock, disk, network, pipe, sleep, idle …
-- time [s]: time waited, all threads added up
-- count: number of waits
-- mean [s]: mean length of a wait
-- longest [s]: the longest wait
select run, comm, state, sum(time) / 1e9 as time, sum(count) as count, sum(time) / 1e9 / nullif(sum(count), 0) as mean,
       max(longest) / 1e9 as longest
from wait
group by run, comm, state
order by time desc
