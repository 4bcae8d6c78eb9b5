CREATE TABLE customers (id int PRIMARY KEY, document jsonb NOT NULL);
INSERT INTO customers
    SELECT id, jsonb_build_object('orders', jsonb_build_array(
        jsonb_build_object('lines', jsonb_build_array(jsonb_build_object('price', id % 97), jsonb_build_object('price', id % 13)))))
    FROM generate_series(1, 15000) id;
VACUUM ANALYZE customers;
