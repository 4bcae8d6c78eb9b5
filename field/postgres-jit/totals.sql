SELECT max(total) FROM (
    SELECT id, sum((line->>'price')::int) AS total
    FROM customers, jsonb_array_elements(document->'orders') AS one, jsonb_array_elements(one->'lines') AS line
    GROUP BY id) AS totals;
