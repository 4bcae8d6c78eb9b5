CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL REFERENCES customers, total int NOT NULL);
INSERT INTO customers SELECT id, 'customer ' || id FROM generate_series(1, 300000) id;
INSERT INTO orders SELECT id, 1 + id % 5000, id % 977 FROM generate_series(1, 8000) id;
VACUUM ANALYZE customers, orders;
