#!/usr/bin/env python3
"""Makes a large perf.data in a folder: perf records a program of many stacks, and what it recorded is repeated, record by record,
since software clocks give no more than some thousands of samples a second.

usage: perf_data.py FOLDER --megabytes N                     each round later than the one before
       perf_data.py FOLDER --seconds N --cpus N --hz N       as of a machine of so many busy CPUs, a thread on each

Prints its size and the number of samples to standard error; the file is FOLDER/perf.data.
"""

import argparse
import os
import struct
import subprocess
import sys

PROGRAM = r"""
// Calls itself by many ways, so that samples have many different stacks of 10 to 60 frames.
#include <stdlib.h>
static volatile unsigned long sink;
static unsigned long seed = 1;
#define FUNCTION(n) __attribute__((noinline)) static void f##n(int depth);
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
EACH(FUNCTION)
static void any(int depth) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    // A fork at every eighth call: some thousands of different stacks, as programs have.
    switch (depth % 8 == 0 ? seed >> 63 : depth & 7) {
#define CASE(n) case n: f##n(depth); break;
        EACH(CASE)
    }
    sink++;
}
#define BODY(n) static void f##n(int depth) { if (depth > 0) any(depth - 1); for (int i = 0; i < 200; i++) sink += i * n; sink++; }
EACH(BODY)
int main(int count, char **words) {
    for (long rounds = atol(words[count - 1]); rounds > 0; rounds--) any(10 + rounds % 50);
    return 0;
}
"""

# perf_event.h: kinds of records, and what samples hold.
SAMPLE, FINISHED_ROUND = 9, 68
IP, TID, TIME, ADDR, ID, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 7, 1 << 8
STREAM_ID, IDENTIFIER = 1 << 9, 1 << 16


def recorded(folder):
    """A small perf.data of the program: its bytes."""
    program, small = os.path.join(folder, "deep"), os.path.join(folder, "small")
    with open(program + ".c", "w") as file:
        file.write(PROGRAM)
    options = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
    subprocess.run(["gcc", *options, "-o", program, program + ".c"], check=True)
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-g", "-o", small, program, "400000"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with open(small, "rb") as file:
        return file.read()


def places(sample_type):
    """Where thread, time, CPU and period are in a sample; None for what it has not."""
    at, found = 8, {}
    for bit in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD):
        if sample_type & bit:
            found[bit] = at
            at += 8
    return found.get(TID), found[TIME], found.get(CPU), found.get(PERIOD)


def of_size(samples, time_at, want):
    """The samples again and again until they are so many bytes."""
    times = [struct.unpack_from("<Q", sample, time_at)[0] for sample in samples]
    span, total, turn = max(times) - min(times) + 1, 0, 0
    while total < want:
        for sample, time in zip(samples, times):
            copy = bytearray(sample)
            struct.pack_into("<Q", copy, time_at, time + turn * span)
            total += len(copy)
            yield bytes(copy)
        turn += 1
        yield struct.pack("<IHH", FINISHED_ROUND, 0, 8)


def of_machine(samples, at, seconds, cpus, hertz):
    """One sample of each CPU at each tick; a thread of the program stays on each."""
    tid_at, time_at, cpu_at, period_at = at
    start = struct.unpack_from("<Q", samples[0], time_at)[0]
    pid = struct.unpack_from("<I", samples[0], tid_at)[0]
    for tick in range(seconds * hertz):
        for cpu in range(cpus):
            copy = bytearray(samples[(tick * 7919 + cpu * 104729) % len(samples)])
            struct.pack_into("<II", copy, tid_at, pid, pid + cpu)
            struct.pack_into("<Q", copy, time_at, start + tick * 1_000_000_000 // hertz + cpu)
            if cpu_at is not None:
                struct.pack_into("<I", copy, cpu_at, cpu)
            if period_at is not None:
                struct.pack_into("<Q", copy, period_at, 1_000_000_000 // hertz)
            yield bytes(copy)
        if tick % hertz == hertz - 1:
            yield struct.pack("<IHH", FINISHED_ROUND, 0, 8)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    for name in ("megabytes", "seconds", "cpus", "hz"):
        arguments.add_argument("--" + name, type=int)
    wanted = arguments.parse_args()
    data = recorded(wanted.folder)
    attr_at = struct.unpack_from("<Q", data, 24)[0]
    at, size = struct.unpack_from("<QQ", data, 40)
    sample_type = struct.unpack_from("<Q", data, attr_at + 24)[0]
    others, samples, record = [], [], at
    while record < at + size:
        kind, _, length = struct.unpack_from("<IHH", data, record)
        if kind == SAMPLE:
            samples.append(data[record : record + length])
        elif kind != FINISHED_ROUND:
            others.append(data[record : record + length])
        record += length
    if wanted.megabytes is not None:
        made = of_size(samples, places(sample_type)[1], wanted.megabytes << 20)
    else:
        made = of_machine(samples, places(sample_type), wanted.seconds, wanted.cpus, wanted.hz)
    with open(os.path.join(wanted.folder, "perf.data"), "wb") as file:
        head = bytearray(data[:at])
        file.write(head)
        number = written = 0
        for piece in others:
            written += file.write(piece)
        for piece in made:
            written += file.write(piece)
            number += len(piece) > 8
        # The table of features, and what it points to, lie behind the data.
        flags = struct.unpack_from("<4Q", data, 72)
        count, rest = sum(bin(f).count("1") for f in flags), bytearray(data[at + size :])
        for i in range(count):
            struct.pack_into("<Q", rest, 16 * i, struct.unpack_from("<Q", rest, 16 * i)[0] + written - size)
        file.write(rest)
        struct.pack_into("<Q", head, 48, written)
        file.seek(0)
        file.write(head)
    print(f"{at + written + len(rest) >> 20} MiB, {number} samples", file=sys.stderr)


main()
