-- view memory_use: memory by use, at each read
-- run: the run
-- t [ns]: when it was read
-- total [B]: memory that the kernel manages
-- available [B]: what programs could still take without swapping, as the kernel estimates it
-- used [B]: what is not available
-- anonymous [B]: heaps and stacks of processes
-- page_cache [B]: file data in memory, buffers and shared memory included
-- slab [B]: the kernel's own objects
-- dirty [B]: file data that is not yet on disk
-- swap_used [B]: swap space in use
with field as (
    select run, t,
           max(value) filter (where field = 'MemTotal') * 1024 as total,
           max(value) filter (where field = 'MemAvailable') * 1024 as available,
           max(value) filter (where field = 'AnonPages') * 1024 as anonymous,
           max(value) filter (where field = 'Cached') * 1024 as cached,
           max(value) filter (where field = 'Buffers') * 1024 as buffers,
           max(value) filter (where field = 'Slab') * 1024 as slab,
           max(value) filter (where field = 'Dirty') * 1024 as dirty,
           max(value) filter (where field = 'SwapTotal') * 1024 as swap_total,
           max(value) filter (where field = 'SwapFree') * 1024 as swap_free
    from meminfo
    group by run, t
)
select run, t, total, available, total - available as used, anonymous, cached + buffers as page_cache, slab, dirty,
       swap_total - swap_free as swap_used
from field
