\set page random(1, :pages)
\set visitor random(1, 1000000)
BEGIN;
UPDATE page_views SET views = views + 1 WHERE id = :page;
INSERT INTO visits VALUES (:page, :visitor, now());
COMMIT;
