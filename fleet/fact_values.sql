-- The value on each recording of the facts that are asked, as for `--within`.
SELECT a.fact_no AS fact_no, m.recording_no AS recording_no,
       max(CASE WHEN f.value IS NULL THEN '' ELSE f.value END) AS value
FROM fact f
JOIN asked_fact a ON a.category = f.category AND a.name = f.name
JOIN member m ON m.id = f.id
GROUP BY a.fact_no, m.recording_no
