CREATE TABLE sales (shop int NOT NULL, amount int NOT NULL);
INSERT INTO sales SELECT id::bigint * 7919 % 4001, id % 1009 FROM generate_series(1, 200000) id;
CREATE MATERIALIZED VIEW totals AS SELECT shop, count(*) AS sales, sum(amount) AS amount FROM sales GROUP BY shop;
CREATE UNIQUE INDEX totals_shop ON totals (shop);
VACUUM ANALYZE sales, totals;
