SELECT max(stock) FROM (SELECT stock FROM parts ORDER BY code OFFSET 1000) AS others;
