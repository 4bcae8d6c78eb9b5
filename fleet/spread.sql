-- Which metrics there are, over how many recordings each is spread, and what it is.
WITH held AS (
    SELECT x.metric AS metric, x.labels AS labels, x.per AS per, count(*) AS recordings
    FROM metric x
    JOIN member m ON m.id = x.id
    GROUP BY x.metric, x.labels, x.per
),
known AS (
    SELECT d.metric AS metric, max(d.unit) AS unit, max(d.per_operation) AS per_operation, max(d.better) AS better,
           max(d.is_rate) AS is_rate, max(d.floor) AS floor, max(d.help) AS help
    FROM declared d
    GROUP BY d.metric
)
SELECT h.metric AS metric, h.labels AS labels, h.per AS per, h.recordings AS recordings, k.unit AS unit,
       k.per_operation AS per_operation, k.better AS better, k.is_rate AS is_rate, CAST(k.floor AS DOUBLE) AS floor,
       k.help AS help
FROM held h
LEFT JOIN known k ON k.metric = h.metric
ORDER BY h.metric, h.labels, h.per
