CREATE TABLE sensors (id int PRIMARY KEY, value int NOT NULL);
INSERT INTO sensors SELECT id, 0 FROM generate_series(1, 20) id;
VACUUM ANALYZE sensors;
