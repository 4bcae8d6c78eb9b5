SELECT max(length(words)) FROM (SELECT words FROM letters ORDER BY sender, id OFFSET 100) AS others;
