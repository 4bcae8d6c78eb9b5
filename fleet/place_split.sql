-- What the ranks of the own share of each function add up to over the recordings of the two sides, among those where it
-- is more than 0 (as in separate.sql), and how many recordings of each side saw its state at all: on the others of
-- these its share is 0.
WITH named AS (
    SELECT p.state AS state, p.function AS function, CASE WHEN p.module IS NULL THEN '' ELSE p.module END AS module,
           m.recording_no AS recording_no, m.side AS side, sum(CAST(p.own AS DOUBLE)) AS value
    FROM place p
    JOIN member m ON m.id = p.id
    WHERE p.function IS NOT NULL
    GROUP BY p.state, p.function, CASE WHEN p.module IS NULL THEN '' ELSE p.module END, m.recording_no, m.side
),
known AS (
    SELECT n.state AS state, n.function AS function, n.module AS module
    FROM named n
    GROUP BY n.state, n.function, n.module
),
by_value AS (
    SELECT n.state AS state, n.function AS function, n.module AS module, n.value AS value,
           CAST(sum(n.side) AS BIGINT) AS ones, count(*) AS hosts
    FROM named n
    WHERE n.side IS NOT NULL AND n.value > 0
    GROUP BY n.state, n.function, n.module, n.value
),
ranked AS (
    SELECT b.state AS state, b.function AS function, b.module AS module, b.ones AS ones, b.hosts AS hosts,
           CAST(sum(b.hosts) OVER (PARTITION BY b.state, b.function, b.module ORDER BY b.value
                                   ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS up_to
    FROM by_value b
),
summed AS (
    SELECT r.state AS state, r.function AS function, r.module AS module, sum(r.ones) AS ones,
           sum(r.hosts - r.ones) AS others, sum(r.ones * (2 * r.up_to - r.hosts + 1)) AS twice_ranks,
           sum(r.hosts * r.hosts * r.hosts - r.hosts) AS ties
    FROM ranked r
    GROUP BY r.state, r.function, r.module
),
saw AS (
    SELECT p.state AS state, m.recording_no AS recording_no, m.side AS side
    FROM place p
    JOIN member m ON m.id = p.id
    WHERE m.side IS NOT NULL
    GROUP BY p.state, m.recording_no, m.side
),
saw_by_state AS (
    SELECT s.state AS state, sum(s.side) AS ones, count(*) AS hosts
    FROM saw s
    GROUP BY s.state
)
SELECT k.state AS state, k.function AS function, k.module AS module,
       CAST(CASE WHEN t.state IS NULL THEN 0 ELSE t.ones END AS BIGINT) AS ones,
       CAST(CASE WHEN t.state IS NULL THEN 0 ELSE t.others END AS BIGINT) AS others,
       CAST(CASE WHEN t.state IS NULL THEN 0 ELSE t.twice_ranks END AS BIGINT) AS twice_ranks,
       CAST(CASE WHEN t.state IS NULL THEN 0 ELSE t.ties END AS BIGINT) AS ties,
       CAST(CASE WHEN a.state IS NULL THEN 0 ELSE a.ones END AS BIGINT) AS saw_ones,
       CAST(CASE WHEN a.state IS NULL THEN 0 ELSE a.hosts - a.ones END AS BIGINT) AS saw_others
FROM known k
LEFT JOIN summed t ON t.state = k.state AND t.function = k.function AND t.module = k.module
LEFT JOIN saw_by_state a ON a.state = k.state
ORDER BY k.state, k.function, k.module
