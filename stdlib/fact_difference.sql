-- view fact_difference: properties of the host in which a run differs from the first run
-- run: the run
-- category: group of the fact
-- name: name of the fact
-- baseline: value in the first run; null where it was not read
-- other: value in this run; null where it was not read
with first as (select run from run order by rowid limit 1),
     name as (select distinct category, name from fact)
select other.run as run, n.category as category, n.name as name, b.value as baseline, o.value as other
from name n
join run other on other.run <> (select run from first)
left join fact b on b.run = (select run from first) and b.category = n.category and b.name = n.name
left join fact o on o.run = other.run and o.category = n.category and o.name = n.name
where b.value is not o.value
