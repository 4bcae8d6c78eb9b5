-- Which recordings there are, and when the oldest process of the workload of each began.
WITH began AS (
    SELECT p.id AS id, min(p.start) AS oldest
    FROM process p
    GROUP BY p.id
)
SELECT r.host AS host, r.id AS id, r.run AS run, r.file AS file, r.start AS start, r.seconds AS seconds,
       r.work_unit AS work_unit, r.labels AS labels, r.boot AS boot, r.booted AS booted, r.marks AS marks,
       b.oldest AS oldest
FROM recording r
LEFT JOIN began b ON b.id = r.id
ORDER BY r.host, r.start, r.id
