//! What causes ask of the code of JVMs: how much time methods took by how they ran, what keeps them from being compiled, how full the code cache was, and
//! over how much memory the code was spread. Both sides in one row where there can be two.

/// CPU time per unit of work of Java methods by the tier of the code, as it was sampled: those that were innermost.
pub(super) const METHOD_USE_COLUMNS: [&str; 6] =
    ["function", "tier", "slow", "against", "slow_samples", "against_samples"];
pub(super) const METHOD_USE: &str = "with used as materialized (
         select run, side, stack, sum(weight * per_unit) as time, count(*) as samples from w_sample group by run, side, stack
     )
     select f.function as function, f.tier as tier,
            sum(iif(u.side = 'slow', u.time, 0)) / 1e9 as slow, sum(iif(u.side = 'against', u.time, 0)) / 1e9 as against,
            sum(iif(u.side = 'slow', u.samples, 0)) as slow_samples,
            sum(iif(u.side = 'against', u.samples, 0)) as against_samples
     from used u join stack k on k.run = u.run and k.number = u.stack join frame f on f.run = k.run and f.number = k.frame
     where f.tier is not null group by 1, 2";

/// Methods that were on a CPU, and why they are not compiled, or not by C2: of all runs of a side, over the whole recordings.
pub(super) const HOT_METHOD_COLUMNS: [&str; 6] = ["side", "method", "tier", "why_not", "time", "bytecode"];
pub(super) const HOT_METHOD: &str =
    "select s.side as side, c.method as method, c.tier as tier, max(c.why_not) as why_not,
            sum(c.time) / 1e9 as time, max(c.bytecode) as bytecode
     from jvm_code c join side s on s.run = c.run group by 1, 2, 3";

/// How full the code cache was where it was fullest, since the JVM began: that part of it which methods may have.
pub(super) const CODE_ROOM_COLUMNS: [&str; 6] =
    ["slow_part", "against_part", "slow_used", "against_used", "slow_most", "against_most"];
pub(super) const CODE_ROOM: &str = "with level as materialized (
         select side, run, pid, t, sum(max(used, coalesce(peak, 0))) as used, sum(most) as most from w_jvm_heap
         where pool glob 'code*' and pool <> 'code non-nmethods' and used is not null and most > 0
         group by side, run, pid, t
     ),
     peak as materialized (
         select side, used, most, row_number() over (partition by side order by used * 1.0 / most desc) as place from level
     )
     select max(iif(side = 'slow', used * 1.0 / most, null)) as slow_part,
            max(iif(side = 'against', used * 1.0 / most, null)) as against_part,
            max(iif(side = 'slow', used, null)) as slow_used, max(iif(side = 'against', used, null)) as against_used,
            max(iif(side = 'slow', most, null)) as slow_most, max(iif(side = 'against', most, null)) as against_most
     from peak where place = 1 having count(*) > 0";

/// Over how much memory the hot code was spread, of the JVM with most samples in each run; the mean of the runs of a side. Where most of the code lies in
/// huge pages, pages are those.
pub(super) const CODE_SPREAD_COLUMNS: [&str; 12] = [
    "slow_pages",
    "against_pages",
    "slow_pages_2m",
    "against_pages_2m",
    "slow_bytes",
    "against_bytes",
    "slow_used",
    "against_used",
    "slow_samples",
    "against_samples",
    "slow_huge",
    "against_huge",
];
pub(super) const CODE_SPREAD: &str = "with of_jvm as materialized (
         select s.side as side, l.run as run, l.pid as pid, sum(l.samples) as samples, sum(l.hot_bytes) as bytes,
                sum(l.hot_pages_4k) as small, sum(l.hot_pages_2m) as large, sum(l.used) as used, sum(l.huge) as huge
         from jvm_code_layout l join side s on s.run = l.run group by 1, 2, 3
     ),
     busiest as materialized (
         select *, row_number() over (partition by run order by samples desc) as place,
                iif(huge * 2 > used, large, small) as pages
         from of_jvm
     )
     select avg(iif(side = 'slow', pages, null)) as slow_pages, avg(iif(side = 'against', pages, null)) as against_pages,
            avg(iif(side = 'slow', large, null)) as slow_pages_2m, avg(iif(side = 'against', large, null)) as against_pages_2m,
            avg(iif(side = 'slow', bytes, null)) as slow_bytes, avg(iif(side = 'against', bytes, null)) as against_bytes,
            avg(iif(side = 'slow', used, null)) as slow_used, avg(iif(side = 'against', used, null)) as against_used,
            avg(iif(side = 'slow', samples, null)) as slow_samples,
            avg(iif(side = 'against', samples, null)) as against_samples,
            avg(iif(side = 'slow', huge, null)) as slow_huge, avg(iif(side = 'against', huge, null)) as against_huge
     from busiest where place = 1 having count(*) > 0";
