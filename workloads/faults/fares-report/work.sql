\set day random(1, 70)
select count(*) from (select f.cents from fares f join zones z on z.id = f.zone join classes c on c.id = f.class where f.day between :day and :day + 29 limit 100000) recent;
