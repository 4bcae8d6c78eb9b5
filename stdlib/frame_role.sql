-- view frame_role: what functions are for, of those of which that is known: locks, queues, collectors, loggers …
-- run: the run
-- frame: number of the frame
-- function: the function
-- module: program, library, or [kernel]
-- roles: its roles, as has_role() takes them: ';lock.take;lock.wait;'
with known as materialized (
    select run, number as frame, function, module, roles(function, module, kind) as roles from frame
)
select run, frame, function, module, roles from known where roles <> ''
