-- view wait_place: where threads waited, and who ended it, over the whole recording
-- run: the run
-- comm: name of the process
-- state: what they waited for
-- what: kernel function or system call that they waited in
-- stack: number of their stack
-- function: its innermost function
-- module: program or library of that function
-- waker: process that ended the waits
-- time [s]: time waited
-- count: number of waits
-- longest [s]: the longest wait
with
waited as materialized (
    select run, comm, state, what, stack, waker, sum(time) / 1e9 as time, sum(count) as count, max(longest) / 1e9 as longest
    from wait group by run, comm, state, what, stack, waker
),
step as materialized (select run, number, frame from stack),
place as materialized (select run, number, function, module from frame)
select w.run as run, w.comm as comm, w.state as state, w.what as what, w.stack as stack, p.function as function, p.module as module,
       w.waker as waker, w.time as time, w.count as count, w.longest as longest
from waited w
left join step s on s.run = w.run and s.number = w.stack
left join place p on p.run = s.run and p.number = s.frame
order by w.time desc
