"""Writes about N MB of lines like those of an event log, the same ones each time."""
import random
import sys

random.seed(11)
left = int(sys.argv[1]) * 1_000_000
clock = 1_700_000_000
while left > 0:
    clock += random.randint(0, 3)
    line = f"{clock} host{random.randint(1, 40)} order={random.getrandbits(40):x} items={random.randint(1, 9)} took={random.expovariate(0.1):.2f}\n"
    sys.stdout.write(line)
    left -= len(line)
