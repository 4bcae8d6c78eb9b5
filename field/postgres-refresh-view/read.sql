\set shop random(0, 4000)
SELECT sales, amount FROM totals WHERE shop = :shop;
