\set task random(1, 1000)
BEGIN;
INSERT INTO jobs (task) VALUES (:task);
NOTIFY jobs;
COMMIT;
