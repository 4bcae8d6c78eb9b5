import random
import sqlite3
import sys

random.seed(4)
database = sqlite3.connect(sys.argv[1])
database.execute("pragma journal_mode = off")
database.execute("create table orders (id integer primary key, customer integer, note text)")
rows = ((number, random.randint(1, 10**6), f"{random.getrandbits(800):x}") for number in range(350000))
database.executemany("insert into orders values (?, ?, ?)", rows)
database.commit()
