"""Writes a table, the same one each time."""
import random

random.seed(13)
for minute in range(600000):
    print(f"{minute},{random.gauss(20, 3):.2f},{random.gauss(1013, 8):.1f},{random.choice('NESW')}")
