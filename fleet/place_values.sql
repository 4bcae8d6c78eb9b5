-- The own shares of the functions that are asked. Each recording that saw a state is in a row of it at least once, also
-- where it saw none of the functions: there their shares are 0.
WITH wanted AS (
    SELECT a.state AS state
    FROM asked_place a
    GROUP BY a.state
),
saw AS (
    SELECT p.state AS state, m.recording_no AS recording_no
    FROM place p
    JOIN wanted w ON w.state = p.state
    JOIN member m ON m.id = p.id
    GROUP BY p.state, m.recording_no
),
held AS (
    SELECT a.state AS state, a.place_no AS place_no, m.recording_no AS recording_no,
           sum(CAST(p.own AS DOUBLE)) AS own
    FROM place p
    JOIN asked_place a ON a.state = p.state AND a.function = p.function
                      AND a.module = CASE WHEN p.module IS NULL THEN '' ELSE p.module END
    JOIN member m ON m.id = p.id
    GROUP BY a.state, a.place_no, m.recording_no
)
SELECT s.state AS state, s.recording_no AS recording_no, h.place_no AS place_no, h.own AS own
FROM saw s
LEFT JOIN held h ON h.state = s.state AND h.recording_no = s.recording_no
