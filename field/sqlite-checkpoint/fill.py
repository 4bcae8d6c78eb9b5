"""A table of 200,000 orders, so that each new one touches another page of the index."""
import os
import random
import sqlite3

random.seed(3)
database = sqlite3.connect(os.environ["RUN"] + "/shop.db")
database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, text TEXT)")
database.executemany("INSERT INTO orders (customer, text) VALUES (?, ?)", ((random.randrange(1_000_000), "x" * 30) for _ in range(200_000)))
database.execute("CREATE INDEX by_customer ON orders (customer)")
database.commit()
