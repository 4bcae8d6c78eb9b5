SELECT count(*) FROM (
    SELECT orders.id, refunds.id FROM orders JOIN refunds ON refunds.reference = orders.reference WHERE orders.id % 300 = 0
    UNION
    SELECT orders.id, refunds.id FROM orders JOIN refunds ON refunds.reference = orders.old_reference WHERE orders.id % 300 = 0) AS found;
