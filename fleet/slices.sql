-- The course over time of the metric that is asked, on each recording.
SELECT m.recording_no AS recording_no, s.slice AS slice_no, s.begins AS begins, s.ends AS ends,
       CAST(s.mean AS DOUBLE) AS mean
FROM slice s
JOIN asked a ON a.metric = s.metric AND a.labels = s.labels AND a.per = s.per
JOIN member m ON m.id = s.id
WHERE a.wanted = 1
ORDER BY m.recording_no, s.slice
