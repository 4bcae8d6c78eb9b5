"""Counts words in threads of one interpreter, which take turns with its lock, against in a process for each."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

TEXT = ("the quick brown fox jumps over the lazy dog while nobody looks " * 12).split()


def count_words(_index):
    counts = {}
    for word in TEXT:
        key = word[::-1]
        counts[key] = counts.get(key, 0) + 1
    return max(counts.values())


frame.begin()
if frame.SLOW:
    frame.run(4, count_words)
else:
    frame.run_processes(4, count_words)
frame.lost_share(1)
