-- view code_footprint: over how much memory the code is spread that a process runs, by samples, over the whole recording
-- run: the run
-- pid: process
-- comm: name of the process
-- kind: file (program text), jit (code that the process made while it ran), kernel
-- samples: samples in such code
-- lines: different lines of 64 bytes in 1,000 of them, on average over all ways to choose 1,000; null for fewer samples: rarefied() of code_line compares at fewer
-- pages: different pages of 4 KiB, likewise
-- regions: different aligned regions of 2 MiB, likewise
-- lines_at_least: lines there are at least, with those that no sample met (Chao's estimate); grows with the number of samples, so not to be compared
-- pages_at_least: pages, likewise
-- hot_pages: pages that hold 90 % of the samples; grows with the number of samples
-- huge [ratio]: share of the samples on huge pages; null where that was not told
-- itlb: entries of the instruction TLB of this CPU for pages of 4 KiB, both levels; null where that is not known
-- itlb_2m: entries for pages of 2 MiB
with
line as materialized (
    select run, pid, comm, kind, code, line, sum(samples) as samples from code_line group by run, pid, comm, kind, code, line
),
page as materialized (
    select run, pid, comm, kind, code, line >> 6 as page, sum(samples) as samples from line group by run, pid, comm, kind, code, line >> 6
),
region as materialized (
    select run, pid, comm, kind, code, page >> 9 as region, sum(samples) as samples from page group by run, pid, comm, kind, code, page >> 9
),
of_lines as materialized (
    select run, pid, comm, kind, sum(samples) as samples, rarefied(samples, 1000) as lines, at_least(samples) as least
    from line group by run, pid, comm, kind
),
of_pages as materialized (
    select run, pid, comm, kind, rarefied(samples, 1000) as pages, at_least(samples) as least, holding(samples, 0.9) as hot
    from page group by run, pid, comm, kind
),
of_regions as materialized (
    select run, pid, comm, kind, rarefied(samples, 1000) as regions from region group by run, pid, comm, kind
),
huge as materialized (
    select h.run as run, h.pid as pid, h.comm as comm, c.kind as kind, sum(h.huge) * 1.0 / nullif(sum(h.samples), 0) as huge
    from code_huge h join code_space c on c.run = h.run and c.number = h.code group by h.run, h.pid, h.comm, c.kind
),
tlb as materialized (
    select run, sum(iif(name in ('itlb', 'itlb_second'), cast(value as integer), null)) as itlb,
           sum(iif(name in ('itlb_2m', 'itlb_2m_second'), cast(value as integer), null)) as itlb_2m
    from fact where category = 'cpu' and name in ('itlb', 'itlb_second', 'itlb_2m', 'itlb_2m_second') group by run
)
select l.run as run, l.pid as pid, l.comm as comm, l.kind as kind, l.samples as samples, l.lines as lines, p.pages as pages,
       r.regions as regions, l.least as lines_at_least, p.least as pages_at_least, cast(p.hot as integer) as hot_pages, h.huge as huge,
       t.itlb as itlb, t.itlb_2m as itlb_2m
from of_lines l
join of_pages p on p.run = l.run and p.pid = l.pid and p.comm is l.comm and p.kind = l.kind
join of_regions r on r.run = l.run and r.pid = l.pid and r.comm is l.comm and r.kind = l.kind
left join huge h on h.run = l.run and h.pid = l.pid and h.comm is l.comm and h.kind = l.kind
left join tlb t on t.run = l.run
order by l.samples desc
