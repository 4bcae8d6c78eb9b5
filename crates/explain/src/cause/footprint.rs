//! What causes ask of how far apart the code lies that runs: of the busiest process of each run, lines, pages and regions of its code, that of the kernel left
//! out. A longer sample finds more of them, so as many samples are drawn on both sides.

pub(super) const COLUMNS: [&str; 15] = [
    "drawn",
    "slow_lines",
    "against_lines",
    "slow_pages",
    "against_pages",
    "slow_regions",
    "against_regions",
    "slow_samples",
    "against_samples",
    "slow_huge",
    "against_huge",
    "slow_itlb",
    "against_itlb",
    "slow_reach",
    "against_reach",
];

/// One row: means of the runs of each side. Reach: entries of the TLB that this code takes, by pages of both sizes.
pub(super) const FOOTPRINT: &str = "with used as materialized (
         select s.run as run, s.side as side, s.pid as pid, s.code as code, s.address >> 6 as line, count(*) as samples
         from w_sample s join code_space c on c.run = s.run and c.number = s.code
         where s.address is not null and c.kind <> 'kernel' group by 1, 2, 3, 4, 5
     ),
     process as materialized (
         select run, side, pid, sum(samples) as samples, row_number() over (partition by run order by sum(samples) desc, pid) as place
         from used group by run, side, pid
     ),
     busiest as materialized (select run, side, pid, samples from process where place = 1),
     -- As many of each run, so that they can be compared.
     draw as materialized (select min(1000, min(samples)) as n from busiest),
     line as materialized (
         select u.run as run, u.code as code, u.line as line, sum(u.samples) as samples
         from used u join busiest b on b.run = u.run and b.pid = u.pid group by 1, 2, 3
     ),
     page as materialized (select run, code, line >> 6 as page, sum(samples) as samples from line group by 1, 2, 3),
     region as materialized (select run, code, page >> 9 as region, sum(samples) as samples from page group by 1, 2, 3),
     lines as materialized (select l.run as run, rarefied(l.samples, d.n) as lines from line l, draw d group by l.run),
     pages as materialized (select p.run as run, rarefied(p.samples, d.n) as pages from page p, draw d group by p.run),
     regions as materialized (select r.run as run, rarefied(r.samples, d.n) as regions from region r, draw d group by r.run),
     huge as materialized (
         select h.run as run, sum(h.huge) * 1.0 / nullif(sum(h.samples), 0) as huge
         from code_huge h join busiest b on b.run = h.run and b.pid = h.pid group by h.run
     ),
     tlb as materialized (
         select run, sum(cast(value as integer)) as itlb from fact
         where category = 'cpu' and name in ('itlb', 'itlb_second') group by run
     ),
     of_run as materialized (
         select b.side as side, b.samples as samples, l.lines as lines, p.pages as pages, r.regions as regions, h.huge as huge,
                t.itlb as itlb, p.pages * (1 - coalesce(h.huge, 0)) + r.regions * coalesce(h.huge, 0) as reach
         from busiest b join lines l on l.run = b.run join pages p on p.run = b.run join regions r on r.run = b.run
         left join huge h on h.run = b.run left join tlb t on t.run = b.run
     )
     select d.n as drawn,
            avg(iif(side = 'slow', lines, null)) as slow_lines, avg(iif(side = 'against', lines, null)) as against_lines,
            avg(iif(side = 'slow', pages, null)) as slow_pages, avg(iif(side = 'against', pages, null)) as against_pages,
            avg(iif(side = 'slow', regions, null)) as slow_regions, avg(iif(side = 'against', regions, null)) as against_regions,
            avg(iif(side = 'slow', samples, null)) as slow_samples, avg(iif(side = 'against', samples, null)) as against_samples,
            avg(iif(side = 'slow', huge, null)) as slow_huge, avg(iif(side = 'against', huge, null)) as against_huge,
            avg(iif(side = 'slow', itlb, null)) as slow_itlb, avg(iif(side = 'against', itlb, null)) as against_itlb,
            avg(iif(side = 'slow', reach, null)) as slow_reach, avg(iif(side = 'against', reach, null)) as against_reach
     from of_run, draw d having count(*) > 0";
