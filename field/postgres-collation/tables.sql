CREATE TABLE parts (code text COLLATE "@COLLATION@" NOT NULL, stock int NOT NULL);
INSERT INTO parts SELECT 'part-' || (id * 7919 % 7) || '-' || md5(id::text), id % 100 FROM generate_series(1, 40000) id;
VACUUM ANALYZE parts;
