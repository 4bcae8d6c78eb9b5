-- The values of the metrics that are wanted, on each recording.
--
-- Of a rate, a group that a recording lacks was 0 there where it has another group of the same family: a family is the
-- metrics of one name whose labels have the same names, and has `fill` = 1 where that holds.
WITH held AS (
    SELECT a.column_no AS column_no, a.wanted AS wanted, m.recording_no AS recording_no, max(x.mean) AS mean,
           max(x.error) AS error, max(x.deviation) AS deviation, max(x.even) AS even, max(x.odd) AS odd
    FROM metric x
    JOIN asked a ON a.metric = x.metric AND a.labels = x.labels AND a.per = x.per
    JOIN member m ON m.id = x.id
    GROUP BY a.column_no, a.wanted, m.recording_no
),
seen AS (
    SELECT a.family AS family, h.recording_no AS recording_no
    FROM held h
    JOIN asked a ON a.column_no = h.column_no
    WHERE a.fill = 1 AND h.mean IS NOT NULL
    GROUP BY a.family, h.recording_no
),
zero AS (
    SELECT a.column_no AS column_no, s.recording_no AS recording_no
    FROM asked a
    JOIN seen s ON s.family = a.family
    LEFT JOIN held h ON h.column_no = a.column_no AND h.recording_no = s.recording_no
    WHERE a.fill = 1 AND a.wanted = 1 AND h.mean IS NULL
)
SELECT CASE WHEN z.column_no IS NULL THEN h.column_no ELSE z.column_no END AS column_no,
       CASE WHEN z.column_no IS NULL THEN h.recording_no ELSE z.recording_no END AS recording_no,
       CASE WHEN z.column_no IS NULL THEN CAST(h.mean AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS mean,
       CASE WHEN z.column_no IS NULL THEN CAST(h.error AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS error,
       CASE WHEN z.column_no IS NULL THEN CAST(h.deviation AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS deviation,
       CASE WHEN z.column_no IS NULL THEN CAST(h.even AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS even,
       CASE WHEN z.column_no IS NULL THEN CAST(h.odd AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS odd
FROM held h
FULL JOIN zero z ON z.column_no = h.column_no AND z.recording_no = h.recording_no
WHERE z.column_no IS NOT NULL OR h.wanted = 1
