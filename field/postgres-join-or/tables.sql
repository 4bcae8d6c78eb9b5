CREATE TABLE orders (id int PRIMARY KEY, reference text NOT NULL, old_reference text NOT NULL);
CREATE TABLE refunds (id int PRIMARY KEY, reference text NOT NULL);
INSERT INTO orders SELECT id, 'order ' || id, 'old ' || id FROM generate_series(1, 60000) id;
INSERT INTO refunds SELECT id, CASE WHEN id % 2 = 0 THEN 'order ' ELSE 'old ' END || id * 17 FROM generate_series(1, 1500) id;
VACUUM ANALYZE orders, refunds;
