-- view process_use: what each process used over the whole recording; of processes too short to be seen twice, see process_exit
-- run: the run
-- pid: process id
-- comm: name, as the kernel keeps it
-- command: command line, secrets masked
-- cpu_time [s]: CPU time, user and kernel
-- cpu_most [s/s]: CPUs in use in the busiest interval
-- run_wait [s]: time in which its threads waited for a CPU
-- rss_most [B]: greatest resident memory
-- read_bytes [B]: read from storage
-- write_bytes [B]: written to storage
-- major_faults: page faults that needed I/O
-- involuntary_switches: times the CPU was taken from it
-- first_t [ns]: start of the first interval in which it was measured
-- last_t [ns]: end of the last one
with used as (
    select run, pid, start, comm, sum(cpu_time * seconds) as cpu_time, max(cpu_time) as cpu_most,
           sum(run_wait * seconds) as run_wait, max(rss) as rss_most, sum(read_bytes * seconds) as read_bytes,
           sum(write_bytes * seconds) as write_bytes, sum(major_faults * seconds) as major_faults,
           sum(involuntary_switches * seconds) as involuntary_switches, min(t_from) as first_t, max(t) as last_t
    from process_rate
    group by run, pid, start, comm
)
select u.run as run, u.pid as pid, u.comm as comm, i.command as command, u.cpu_time as cpu_time, u.cpu_most as cpu_most,
       u.run_wait as run_wait, u.rss_most as rss_most, u.read_bytes as read_bytes, u.write_bytes as write_bytes,
       u.major_faults as major_faults, u.involuntary_switches as involuntary_switches, u.first_t as first_t,
       u.last_t as last_t
from used u
left join process_identity i on i.run = u.run and i.pid = u.pid and i.start = u.start
