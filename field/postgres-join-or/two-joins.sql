SELECT count(*) FROM (
    SELECT orders.id, returns.id FROM orders JOIN returns ON returns.reference = orders.reference WHERE orders.id % 300 = 0
    UNION
    SELECT orders.id, returns.id FROM orders JOIN returns ON returns.reference = orders.old_reference WHERE orders.id % 300 = 0) AS found;
