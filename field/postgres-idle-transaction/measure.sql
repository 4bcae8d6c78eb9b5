\set sensor random(1, 20)
\set value random(1, 1000)
UPDATE sensors SET value = :value WHERE id = :sensor;
