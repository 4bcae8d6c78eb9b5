-- view filesystem_summary: each file system at its last read, and how it grew
-- run: the run
-- mount: where it is mounted
-- device: its device
-- type: type of the file system
-- size [B]: space in all
-- used [B]: space in use at the end
-- used_share [ratio]: the same as a share of all
-- grown [B]: space taken since the first read
with seen as (
    select *, row_number() over (partition by run, mount, device, type order by t desc) as back,
           first_value(free) over (partition by run, mount, device, type order by t) as free_first
    from filesystems
)
select run, mount, device, type, size, size - free as used, (size - free) * 1.0 / nullif(size, 0) as used_share,
       free_first - free as grown
from seen
where back = 1
