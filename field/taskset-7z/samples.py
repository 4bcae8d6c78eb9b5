"""Writes numbers as text, the same ones each time."""
import random

random.seed(21)
level = 0.0
for second in range(1_400_000):
    level += random.gauss(0, 1)
    print(f"{second};{level:.1f};{random.randint(0, 3)}")
