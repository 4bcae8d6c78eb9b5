-- view function_cycles: cycles and instructions of functions and what cycles an instruction took, by samples of both, over the whole recording; no rows where no samples were taken by instructions
-- run: the run
-- comm: name of the process
-- function: the function itself, without what it called; null where it could not be resolved
-- module: program, library, or [kernel]
-- kind: kind of code
-- cycles: cycles in which a CPU was in it, not halted
-- instructions: instructions that were carried out in it
-- cycle_samples: samples that the cycles are told by
-- instruction_samples: samples that the instructions are told by
-- cpi: cycles per instruction; null where no sample told of the one or the other
-- cpi_low: lower end of its 95 % interval, see poisson_factor(); samples count as many as would be as sure if all stood for equally much
-- cpi_high: upper end of that interval
with
own as materialized (
    select run, comm, stack, sum(cycles) as cycles, sum(cycle_samples) as of_cycles,
           sum(1.0 * cycles * cycles / nullif(cycle_samples, 0)) as cycle_squares, sum(instructions) as instructions,
           sum(instruction_samples) as of_instructions,
           sum(1.0 * instructions * instructions / nullif(instruction_samples, 0)) as instruction_squares
    from counted_sample group by run, comm, stack
),
function as materialized (
    select o.run as run, o.comm as comm, f.function as function, f.module as module, f.kind as kind, sum(o.cycles) as cycles,
           sum(o.instructions) as instructions, sum(o.of_cycles) as cycle_samples, sum(o.of_instructions) as instruction_samples,
           sum(o.cycle_squares) as cycle_squares, sum(o.instruction_squares) as instruction_squares
    from own o
    left join stack s on s.run = o.run and s.number = o.stack
    left join frame f on f.run = o.run and f.number = s.frame
    group by o.run, o.comm, f.function, f.module, f.kind
),
sure as (
    select *, 1.0 * cycles / nullif(instructions, 0) as cpi,
           poisson_factor(1.0 * cycles * cycles / nullif(cycle_squares, 0), 1.0 * instructions * instructions / nullif(instruction_squares, 0)) as factor
    from function
)
select run, comm, function, module, kind, cycles, instructions, cycle_samples, instruction_samples, nullif(cpi, 0) as cpi,
       nullif(cpi, 0) / factor as cpi_low, nullif(cpi, 0) * factor as cpi_high
from sure
order by cycles desc
