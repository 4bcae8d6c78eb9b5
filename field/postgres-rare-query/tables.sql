CREATE TABLE article (id int PRIMARY KEY, name text, cents int);
INSERT INTO article SELECT n, 'article ' || n, n % 10000 FROM generate_series(1, 20000) n;
CREATE TABLE purchase (id int PRIMARY KEY, customer int, article int, cents int);
INSERT INTO purchase SELECT n, (n * 7919::bigint) % 100003, n % 20000, n % 10000 FROM generate_series(1, 800000) n;
