"""Counts the words of documents in several processes; the counts come together in a table that all share."""

import hashlib
import multiprocessing
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

WORKERS = 2
MERGE = 50
VOCABULARY = [hashlib.md5(b"%d" % n).hexdigest()[: 4 + n % 6] for n in range(3000)]


def document(number):
    """Words of one document: many of few, few of many."""
    state = number * 2654435761 % 4294967296
    words = []
    for _ in range(160):
        state = (state * 1664525 + 1013904223) % 4294967296
        words.append(VOCABULARY[(state >> 8) % (1 + (state >> 20) % len(VOCABULARY))])
    return " ".join(words)


class Counter:
    """Adds the counts of documents to the shared table."""

    def __init__(self, table):
        self.table = table
        self.own = {}
        self.documents = 0

    def frequent(self, text):
        counts = {}
        for word in text.split():
            counts[word] = counts.get(word, 0) + 1
        return {word: count for word, count in counts.items() if count > 1}

    def add(self, text):
        for word, count in self.frequent(text).items():
            if frame.SLOW:
                self.table[word] = self.table.get(word, 0) + count
            else:
                self.own[word] = self.own.get(word, 0) + count
        self.documents += 1
        if self.documents % MERGE == 0 and self.own:
            self.table.update(self.own)


frame.begin()
frame.EVERY = 0.1
with multiprocessing.Manager() as manager:
    counters = [Counter(manager.dict()) for _ in range(WORKERS)]
    numbers = [0] * WORKERS

    def index(worker):
        numbers[worker] += 1
        counters[worker].add(document(numbers[worker] * WORKERS + worker))

    frame.run_processes(WORKERS, index)
frame.lost_share(1)
