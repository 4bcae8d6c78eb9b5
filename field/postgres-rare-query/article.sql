\set article random(1, 20000)
SELECT name, cents FROM article WHERE id = :article;
