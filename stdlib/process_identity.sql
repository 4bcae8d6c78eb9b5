-- view process_identity: each process, with what was last known of it
-- run: the run
-- pid: process id
-- start: when it was started, in hundredths of a second since boot: tells processes apart that had the same pid
-- name: name
-- parent: process id of its parent
-- command: command line, secrets masked
-- executable: path of its program
-- uid: user that it ran as
-- cgroup: control group
-- first_t [ns]: when it was first seen
-- last_t [ns]: when it was last seen
with seen as (
    select *, row_number() over (partition by run, pid, start order by t desc) as back,
           min(t) over (partition by run, pid, start) as first_t
    from process_info
)
select run, pid, start, name, parent, command, executable, uid, cgroup, first_t, t as last_t
from seen
where back = 1
