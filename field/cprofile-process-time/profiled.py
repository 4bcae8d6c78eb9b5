"""Profiles a recursive search with the timer that the first argument names."""
import cProfile
import pstats
import sys
import time


def place(row, columns, left, right, size):
    if row == size:
        return 1
    found = 0
    for column in range(size):
        if free(columns, left, right, row, column):
            found += place(row + 1, columns | 1 << column, left | 1 << row + column, right | 1 << row - column + size, size)
    return found


def free(columns, left, right, row, column):
    return not (columns >> column & 1 or left >> row + column & 1 or right >> row - column + 8 & 1)


profile = cProfile.Profile(getattr(time, sys.argv[1]))
for _ in range(100):
    profile.runcall(place, 0, 0, 0, 0, 8)
print(pstats.Stats(profile).total_calls)
