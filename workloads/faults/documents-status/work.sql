\set first random(1, 3900)
select count(*) filter (where body ->> 'status' = 'open'), max(body ->> 'changed') from documents where id between :first and :first + 60;
