-- view lock_summary: the locks that threads waited for, over the whole recording
-- run: the run
-- comm: name of the process
-- kind: kind of lock
-- name: name of the lock; null where only its address is known
-- address: where it lies
-- time [s]: time waited for it, all threads added up
-- share [ratio]: share of the time waited for all locks of the run
-- count: number of waits
-- longest [s]: the longest wait
-- waiters: threads that waited at once, at most
-- holder: thread that held it in the longest part of that time
with
waited as materialized (
    select run, comm, kind, name, address, holder, sum(time) / 1e9 as time, sum(count) as count, max(longest) / 1e9 as longest, max(waiters) as waiters
    from lock group by run, comm, kind, name, address, holder
),
total as materialized (select run, sum(time) as time from waited group by run),
held as materialized (
    select run, comm, kind, name, address, holder, row_number() over (partition by run, comm, kind, name, address order by time desc) as place
    from waited where holder is not null
)
select w.run as run, w.comm as comm, w.kind as kind, w.name as name, w.address as address, sum(w.time) as time,
       sum(w.time) / nullif(t.time, 0) as share, sum(w.count) as count, max(w.longest) as longest, max(w.waiters) as waiters, h.holder as holder
from waited w
join total t on t.run = w.run
left join held h on h.run = w.run and h.comm is w.comm and h.kind is w.kind and h.name is w.name and h.address is w.address and h.place = 1
group by w.run, w.comm, w.kind, w.name, w.address
order by time desc
