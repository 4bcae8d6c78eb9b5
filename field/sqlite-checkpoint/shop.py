"""Stores orders at a constant rate, one transaction each. Times count from the moment at which an order was due."""
import os
import random
import sqlite3
import time

RATE = 250
random.seed(5)
database = sqlite3.connect(os.environ["RUN"] + "/shop.db", isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = NORMAL")
database.execute(f"PRAGMA wal_autocheckpoint = {os.environ['PAGES']}")
database.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer INTEGER, text TEXT)")
database.execute("CREATE INDEX IF NOT EXISTS by_customer ON orders (customer)")

times = []
begin = time.monotonic()
for number in range(RATE * int(os.environ["SECONDS_EACH"])):
    due = begin + number / RATE
    time.sleep(max(0, due - time.monotonic()))
    database.execute("BEGIN")
    for _ in range(3):
        database.execute("INSERT INTO orders (customer, text) VALUES (?, ?)", (random.randrange(1_000_000), "x" * 300))
    database.execute("COMMIT")
    times.append((time.monotonic() - due) * 1000)
times.sort()
for part in (50, 90, 99):
    print(f"p{part} {times[len(times) * part // 100]:.2f}")
print("done", len(times))
