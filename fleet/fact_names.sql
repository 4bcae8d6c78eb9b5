-- Which facts there are.
SELECT f.category AS category, f.name AS name, count(*) AS recordings
FROM fact f
JOIN member m ON m.id = f.id
GROUP BY f.category, f.name
ORDER BY f.category, f.name
