-- How many recordings of each band, and of each side, have each value of each fact.
WITH told AS (
    SELECT f.category AS category, f.name AS name, m.recording_no AS recording_no, m.band AS band, m.decided AS decided,
           max(CASE WHEN f.value IS NULL THEN '' ELSE f.value END) AS value
    FROM fact f
    JOIN member m ON m.id = f.id
    GROUP BY f.category, f.name, m.recording_no, m.band, m.decided
)
SELECT t.category AS category, t.name AS name, t.value AS value, t.band AS band, t.decided AS decided,
       count(*) AS recordings
FROM told t
GROUP BY t.category, t.name, t.value, t.band, t.decided
ORDER BY t.category, t.name, t.value, t.band, t.decided
