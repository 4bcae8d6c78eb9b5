"""A report server: the parent loads the catalogue once, and a child is forked for each report."""

import gc
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

ARTICLES = 25_000


class Catalogue:
    def __init__(self):
        self.articles = [{"name": f"article {n}", "prices": [n % 97, n % 89], "stock": (n % 13, n % 7)} for n in range(ARTICLES)]


def build(catalogue, number):
    """Lines, totals and a table of contents of one report; uses a few hundred articles of all."""
    rows = []
    for line in range(1_200):
        article = catalogue.articles[(number * 37 + line) % 3_000]
        row = {"line": line, "name": article["name"], "value": article["prices"][0] * article["stock"][0]}
        row["related"] = [row["value"], line % 31]
        rows.append(row)
    totals = {}
    for row in rows:
        totals.setdefault(row["value"] % 50, []).append(row)
    text = []
    for key in sorted(totals):
        text.append(f"{key}: {sum(row['value'] for row in totals[key])}")
        text.extend(f"{row['line']:6} {row['name']:30} {row['value']:8}" for row in totals[key])
    gc.collect()  # the report's objects refer to one another: what is left of them goes before the child takes its next page
    return len("\n".join(text))


def report(catalogue, number):
    child = os.fork()
    if child == 0:
        gc.enable()
        status = 0 if build(catalogue, number) > 0 else 1
        os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("a report failed")


frame.begin()
frame.EVERY = 0.1
gc.disable()
catalogue = Catalogue()
if not frame.SLOW:
    gc.freeze()
number = 0


def request(_index):
    global number
    number += 1
    report(catalogue, number)


frame.run(1, request)
frame.lost_share(1)
