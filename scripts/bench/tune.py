#!/usr/bin/env python3
"""How often `twinscope tune` and hyperfine call equal commands different on this machine, beside a program that comes and goes.

usage: scripts/bench/tune.py [--twinscope PATH] [--sessions 40] [--beside 20] [--tsv]

A session compares a command with itself. Half of the first kind run beside a neighbour that computes for some seconds,
pauses for some, and so on; of the second kind, beside the same neighbour, tune and hyperfine have the same time each,
one after the other, in random order. hyperfine calls nothing itself: its times are judged as its own script
welch_ttest.py does, two-sided at 5 %.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

COMMAND = "i=0; while [ $i -lt {n} ]; do i=$((i+1)); done"


class Neighbour(threading.Thread):
    """One busy process that comes and goes."""

    def __init__(self, seed):
        super().__init__(daemon=True)
        self.random, self.over = random.Random(seed), threading.Event()

    def run(self):
        while not self.over.is_set():
            # It must not outlive a session that is killed.
            busy = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"])
            self.over.wait(self.random.uniform(1, 8))
            busy.kill()
            busy.wait()
            self.over.wait(self.random.uniform(1, 8))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def tune(twinscope, command, folder, number, blocks):
    """What a session says, and how long it took."""
    began = time.monotonic()
    words = [twinscope, "tune", "-q", "--json", "--explained", "0", "--blocks", str(blocks), "--keep", "none",
             "-o", os.path.join(folder, f"{number}.tune"), "--against", command, "--", "sh", "-c", command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"tune: {done.stderr}")
    change = json.loads(done.stdout)["changes"][0]
    return change["verdict"], change["blocks"], change["factor"], time.monotonic() - began


def t_critical(df):
    """Student's t, two-sided at 5 % (Abramowitz and Stegun 26.7.5)."""
    x = 1.959964
    terms = [(x**3 + x) / 4, (5 * x**5 + 16 * x**3 + 3 * x) / 96, (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384]
    return x + sum(term / df ** (i + 1) for i, term in enumerate(terms))


def hyperfine(command, folder, seconds):
    """Whether Welch's t calls a difference between the command and itself, run for so long in all; and its factor."""
    began = time.monotonic()
    subprocess.run(["sh", "-c", command], check=True)
    runs = max(10, int(seconds / 2 / (time.monotonic() - began)))
    path = os.path.join(folder, "hyperfine.json")
    words = ["hyperfine", "--style", "none", "-N", "--warmup", "1", "--runs", str(runs), "--export-json", path]
    subprocess.run([*words, f"sh -c '{command}'", f"sh -c '{command} '"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        times = [result["times"] for result in json.load(file)["results"]]
    means = [sum(t) / len(t) for t in times]
    errors = [sum((x - m) ** 2 for x in t) / (len(t) - 1) / len(t) for t, m in zip(times, means)]
    df = sum(errors) ** 2 / sum(e**2 / (len(t) - 1) for e, t in zip(errors, times))
    return abs(means[0] - means[1]) / math.sqrt(sum(errors)) > t_critical(df), means[1] / means[0], runs


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--twinscope", default="target/release/twinscope")
    asked.add_argument("--sessions", type=int, default=40)
    asked.add_argument("--beside", type=int, default=20)
    asked.add_argument("--loops", type=int, default=100_000, help="of the command: how long it runs")
    asked.add_argument("--blocks", type=int, default=30)
    asked.add_argument("--tsv", action="store_true")
    options = asked.parse_args()
    twinscope, command = os.path.abspath(options.twinscope), COMMAND.format(n=options.loops)
    rows = []

    def told(what, verdict, factor, blocks):
        rows.append((what, verdict, f"{factor:.3f}", blocks))
        print(f"{what:30} {verdict:12} {factor:.3f} {blocks}", file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.sessions):
            if number % 2:
                with Neighbour(number):
                    verdict, blocks, factor, _ = tune(twinscope, command, folder, number, options.blocks)
            else:
                verdict, blocks, factor, _ = tune(twinscope, command, folder, number, options.blocks)
            told("beside a neighbour" if number % 2 else "alone", verdict, factor, blocks)
        draw = random.Random(1)
        for number in range(options.beside):
            # Each has the time that a session of tune takes here.
            seconds = None
            with Neighbour(1000 + number):
                first = draw.random() < 0.5
                for who in ["tune", "hyperfine"] if first or seconds is None else ["hyperfine", "tune"]:
                    if who == "tune":
                        verdict, blocks, factor, seconds = tune(twinscope, command, folder, f"b{number}", options.blocks)
                        told("same time: tune", verdict, factor, blocks)
                    else:
                        called, factor, runs = hyperfine(command, folder, seconds or 10)
                        told("same time: hyperfine", "different" if called else "-", factor, runs)

    def count(what, *verdicts):
        return sum(1 for row in rows if row[0] == what and row[1] in verdicts)

    for what in ["alone", "beside a neighbour", "same time: tune", "same time: hyperfine"]:
        all_of = [row for row in rows if row[0] == what]
        if not all_of:
            continue
        wrong = count(what, "better", "worse", "different")
        furthest = max(abs(math.log(float(row[2]))) for row in all_of)
        number = round(sum(row[3] for row in all_of) / len(all_of))
        same, off = count(what, "same"), f"{100 * (math.exp(furthest) - 1):.1f}"
        figures = [("sessions", "", len(all_of)), ("a difference is called", "", wrong), ("the same is called", "", same),
                   ("furthest off", "%", off), ("blocks, or runs of each", "", number)]
        for metric, unit, value in figures:
            print(f"{what}\t{metric}\t{unit}\t{value}" if options.tsv else f"{what:24} {metric:24} {value} {unit}")


if __name__ == "__main__":
    main()
