//! Whose function is it that waits or holds, in SQL: the one answer of `compare` and `explain`.

/// Tables of SQL for a question that begins with `with recursive` and has a table `asked` of `run` and `stack`: `own` (`run`, `stack`, `function`,
/// `near`) is the function that takes or holds a lock, or waits. That is the innermost one of the program itself (`near` is 0), else of its language
/// (`near` is 1); see `lexicon::waiting`. A damaged table may hold a circle, which ends somewhere.
#[macro_export]
macro_rules! own_code {
    () => {
        "way (run, stack, parent, frame, depth) as (
             select a.run, a.stack, k.parent, k.frame, 0
             from asked a join stack k on k.run = a.run and k.number = a.stack
             union all
             select w.run, w.stack, k.parent, k.frame, w.depth + 1
             from way w join stack k on k.run = w.run and k.number = w.parent where w.depth < 512
         ),
         place as materialized (
             select w.run as run, w.stack as stack, function_name(f.function, f.module) as function, w.depth as depth,
                    nearness(f.function, f.module, f.kind) as near,
                    iif(has_role(roles(f.function, f.module, f.kind), 'lock.wait'), w.depth, -1) as slow
             from way w join frame f on f.run = w.run and f.number = w.frame
         ),
         slow as materialized (select run, stack, max(slow) as depth from place group by run, stack),
         own as materialized (
             select p.run as run, p.stack as stack, p.function as function, p.near as near, min(1000 * p.near + p.depth)
             from place p join slow s on s.run = p.run and s.stack = p.stack
             where p.near is not null and p.depth > s.depth
             group by p.run, p.stack
         )"
    };
}
