CREATE TABLE page_views (id int PRIMARY KEY, views bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE visits (page int NOT NULL, visitor int NOT NULL, at timestamptz NOT NULL);
INSERT INTO page_views SELECT id, 0 FROM generate_series(1, 10000) id;
VACUUM ANALYZE page_views;
