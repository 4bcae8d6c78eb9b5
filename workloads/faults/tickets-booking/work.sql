\set seat random(1, 20000)
select count(*) from seats where hall = :seat % 20 and not taken;
update seats set taken = not taken, changed = changed + 1 where id = :seat;
select id, price from seats where hall = :seat % 20 and not taken order by price, id limit 10;
