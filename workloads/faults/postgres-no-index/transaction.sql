\set id random(1, 20000)
select name from people where id = :id;
