\set customer random(1, 100000)
SELECT id, article, cents FROM purchase WHERE customer = :customer;
