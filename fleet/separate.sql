-- What the ranks of each column add up to over the recordings of the two sides: a column is the means over the odd
-- blocks of a metric, or its deviations within the recordings. Equal values share their middle rank, counted from 1,
-- and doubled so that it is a whole number; `ties` is the sum of t * t * t - t over groups of t equal values.
-- What a group of a rate that a recording lacks is: values.sql.
WITH held AS (
    SELECT a.column_no AS column_no, a.fill AS fill, a.wanted AS wanted, m.recording_no AS recording_no,
           m.side AS side, max(x.mean) AS mean, max(CASE WHEN a.part = 'odd' THEN x.odd ELSE x.deviation END) AS value
    FROM metric x
    JOIN asked a ON a.metric = x.metric AND a.labels = x.labels AND a.per = x.per
    JOIN member m ON m.id = x.id
    WHERE m.side IS NOT NULL
    GROUP BY a.column_no, a.fill, a.wanted, m.recording_no, m.side
),
by_value AS (
    SELECT h.column_no AS column_no,
           CASE WHEN h.value = 0 THEN CAST(0 AS DOUBLE) ELSE CAST(h.value AS DOUBLE) END AS value,
           CAST(sum(h.side) AS BIGINT) AS ones, count(*) AS hosts
    FROM held h
    WHERE h.wanted = 1 AND h.value IS NOT NULL AND (h.fill = 0 OR h.mean IS NOT NULL)
    GROUP BY h.column_no, CASE WHEN h.value = 0 THEN CAST(0 AS DOUBLE) ELSE CAST(h.value AS DOUBLE) END
),
seen AS (
    SELECT a.family AS family, h.recording_no AS recording_no, h.side AS side
    FROM held h
    JOIN asked a ON a.column_no = h.column_no
    WHERE a.fill = 1 AND h.mean IS NOT NULL
    GROUP BY a.family, h.recording_no, h.side
),
seen_by_family AS (
    SELECT s.family AS family, sum(s.side) AS ones, count(*) AS hosts
    FROM seen s
    GROUP BY s.family
),
there AS (
    SELECT h.column_no AS column_no, sum(h.side) AS ones, count(*) AS hosts
    FROM held h
    WHERE h.fill = 1 AND h.mean IS NOT NULL
    GROUP BY h.column_no
),
zero AS (
    SELECT a.column_no AS column_no, CAST(0 AS DOUBLE) AS value,
           CAST(s.ones - CASE WHEN t.column_no IS NULL THEN 0 ELSE t.ones END AS BIGINT) AS ones,
           CAST(s.hosts - CASE WHEN t.column_no IS NULL THEN 0 ELSE t.hosts END AS BIGINT) AS hosts
    FROM asked a
    JOIN seen_by_family s ON s.family = a.family
    LEFT JOIN there t ON t.column_no = a.column_no
    WHERE a.fill = 1 AND a.wanted = 1
),
-- What is 0 by itself, and what is since it is not there, are equal.
counted AS (
    SELECT CASE WHEN b.column_no IS NULL THEN z.column_no ELSE b.column_no END AS column_no,
           CASE WHEN b.column_no IS NULL THEN z.value ELSE b.value END AS value,
           CASE WHEN b.column_no IS NULL THEN 0 ELSE b.ones END
               + CASE WHEN z.column_no IS NULL THEN 0 ELSE z.ones END AS ones,
           CASE WHEN b.column_no IS NULL THEN 0 ELSE b.hosts END
               + CASE WHEN z.column_no IS NULL THEN 0 ELSE z.hosts END AS hosts
    FROM by_value b
    FULL JOIN zero z ON z.column_no = b.column_no AND z.value = b.value
),
ranked AS (
    SELECT c.column_no AS column_no, c.ones AS ones, c.hosts AS hosts,
           CAST(sum(c.hosts) OVER (PARTITION BY c.column_no ORDER BY c.value
                                   ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS up_to
    FROM counted c
    WHERE c.hosts > 0
)
SELECT r.column_no AS column_no, CAST(sum(r.ones) AS BIGINT) AS ones, CAST(sum(r.hosts - r.ones) AS BIGINT) AS others,
       CAST(sum(r.ones * (2 * r.up_to - r.hosts + 1)) AS BIGINT) AS twice_ranks,
       CAST(sum(r.hosts * r.hosts * r.hosts - r.hosts) AS BIGINT) AS ties
FROM ranked r
GROUP BY r.column_no
ORDER BY r.column_no
