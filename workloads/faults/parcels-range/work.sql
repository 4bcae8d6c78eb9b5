\set first random(1, 190000)
select count(*), sum(weight) from parcels where town between :first % 1000 and :first % 1000 + 1;
