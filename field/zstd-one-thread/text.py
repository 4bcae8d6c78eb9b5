"""Writes about N MB of words, the same ones each time."""
import random
import sys

random.seed(7)
letters = "etaoinshrdlucmfw"
words = ["".join(random.choices(letters, k=random.randint(2, 10))) for _ in range(20000)]
weights = [1 / (rank + 1) for rank in range(len(words))]
left = int(sys.argv[1]) * 1_000_000
while left > 0:
    block = " ".join(random.choices(words, weights, k=50000)) + "\n"
    sys.stdout.write(block)
    left -= len(block)
