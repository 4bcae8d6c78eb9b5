CREATE DATABASE shop;
USE shop;
CREATE TABLE customers (id int PRIMARY KEY, phone varchar(20) NOT NULL, name varchar(60) NOT NULL, KEY (phone));
INSERT INTO customers SELECT seq, seq + 4930000000, concat('customer ', seq) FROM seq_1_to_3000;
ANALYZE TABLE customers;
