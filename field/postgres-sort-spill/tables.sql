CREATE TABLE letters (id int NOT NULL, sender int NOT NULL, words text NOT NULL);
INSERT INTO letters SELECT id, id * 7919 % 10007, rpad(md5(id::text), 1900, id::text) FROM generate_series(1, 12000) id;
VACUUM ANALYZE letters;
