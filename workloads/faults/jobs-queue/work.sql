insert into jobs (kind, payload) values (1, 'order 17 of customer 4711 is to be sent');
delete from jobs where id = (select id from jobs order by id limit 1 for update skip locked);
select md5(string_agg('line ' || n || ' of the letter', ',')) from generate_series(1, 900) n;
