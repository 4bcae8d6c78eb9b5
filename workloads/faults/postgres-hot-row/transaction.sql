\set id random(1, :rows)
begin;
update tallies set n = n + 1 where id = :id;
select count(*) from tallies where n > 5 and id between 1 and 500;
select pg_sleep(0.001);
commit;
