\set customer random(5001, 300000)
DELETE FROM customers WHERE id = :customer;
