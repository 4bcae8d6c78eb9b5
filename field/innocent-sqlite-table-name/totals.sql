pragma journal_mode = off;
pragma synchronous = off;
create table @TABLE@ (id integer primary key, @COLUMN@ integer, price integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000)
insert into @TABLE@ select i, i * 7919 % 20011, i * 31 % 997 from n;
create index by_@COLUMN@ on @TABLE@ (@COLUMN@);
select count(*), sum(total) from (select @COLUMN@, sum(price) as total from @TABLE@ group by @COLUMN@ having total > 100);
select count(*) from @TABLE@ a join @TABLE@ b on a.@COLUMN@ = b.@COLUMN@ where a.price < 200 and b.price < 400;
select count(*) from (select @COLUMN@, price from @TABLE@ order by price desc, @COLUMN@ limit 1000);
