import random
import sqlite3
import sys

random.seed(5)
database = sqlite3.connect(sys.argv[1])
total = 0
for _ in range(int(sys.argv[2])):
    total += database.execute("select customer from orders where id = ?", (random.randrange(350000),)).fetchone()[0]
print(total)
