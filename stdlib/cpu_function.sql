-- view cpu_function: the functions in which samples found CPUs busy, over the whole recording
-- run: the run
-- comm: name of the process
-- function: the function; null where it could not be resolved
-- module: program, library, or [kernel]
-- kind: kind of code
-- cpu_time [s]: CPU time in the function itself
-- with_callees [s]: CPU time in the function and in what it called; recursion counts once
-- samples: samples in the function itself
with recursive
own as materialized (
    select run, comm, stack, sum(weight) / 1e9 as weight, count(*) as samples from sample where stack is not null group by run, comm, stack
),
step as materialized (select run, number, parent, frame from stack),
place as materialized (select run, number, function, module, kind from frame),
walk(run, comm, leaf, weight, samples, number, frame, parent, is_leaf) as (
    select o.run, o.comm, o.stack, o.weight, o.samples, s.number, s.frame, s.parent, 1
    from own o join step s on s.run = o.run and s.number = o.stack
    -- Not `union all`: a damaged table cannot go round in circles.
    union
    select w.run, w.comm, w.leaf, w.weight, w.samples, s.number, s.frame, s.parent, 0
    from walk w join step s on s.run = w.run and s.number = w.parent
),
named as (
    select w.run as run, w.comm as comm, w.leaf as leaf, max(w.weight) as weight, max(w.samples) as samples, max(w.is_leaf) as is_leaf,
           p.function as function, p.module as module, p.kind as kind
    from walk w join place p on p.run = w.run and p.number = w.frame
    group by w.run, w.comm, w.leaf, p.function, p.module, p.kind
)
select run, comm, function, module, kind, sum(iif(is_leaf, weight, 0)) as cpu_time, sum(weight) as with_callees,
       sum(iif(is_leaf, samples, 0)) as samples
from named
group by run, comm, function, module, kind
order by cpu_time desc
