#!/usr/bin/env python3
"""What the source `jvm` tells of pauses, held against the JVM's own log, and what it costs; the same of `allocation`, held against what the JVM counts.

usage: scripts/bench/jvm.py --twinscope PATH --seconds N

Each JDK in /usr/lib/jvm (and JAVA_HOME) with each collector runs a program that allocates (Pauses.java of the source), while it is recorded with
`--only jvm`. Its log has each pause with CLOCK_MONOTONIC (decoration tn). The cost is the CPU time of the recorder with this source less that of a recording of another source
as often, in turn. Another program (Allocations.java) allocates 500 MB a second, of which the JVM counts the bytes by thread. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
"""
import argparse
import csv
import io
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

COLLECTORS = {"G1": "-XX:+UseG1GC", "Parallel": "-XX:+UseParallelGC", "Serial": "-XX:+UseSerialGC", "ZGC": "-XX:+UseZGC"}
PROGRAM = "crates/sources/src/jvm/Pauses.java"
ALLOCATES = "crates/sources/src/allocation/Allocations.java"


def jdks():
    found = [p.resolve() for p in pathlib.Path("/usr/lib/jvm").glob("*")]
    if "JAVA_HOME" in os.environ:
        found.append(pathlib.Path(os.environ["JAVA_HOME"]).resolve())
    found = sorted({p for p in found if (p / "bin/javac").exists()}, key=feature)
    return found


def feature(jdk):
    text = (jdk / "release").read_text() if (jdk / "release").exists() else ""
    match = re.search(r'JAVA_VERSION="(\d+)', text)
    return int(match.group(1)) if match else 0


def rows(twinscope, recording, sql):
    out = subprocess.run([twinscope, "sql", recording, "--format", "csv", sql], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(out.stdout)))


def logged(path):
    """Ends and lengths of the pauses of collections, ms."""
    found = []
    for line in open(path, encoding="utf-8"):
        match = re.match(r"\[(\d+)ns\].*Pause .* ([\d.]+)ms$", line.rstrip())
        if match:
            found.append((int(match[1]) / 1e6, float(match[2])))
    return found


def say(what, metric, unit, figure):
    print(f"{what}\t{metric}\t{unit}\t{figure}", flush=True)


def accuracy(twinscope, jdk, collector, classes, seconds, work):
    what = f"JDK {feature(jdk)}, {collector}"
    log, recording = f"{work}/gc.log", f"{work}/run.twin"
    pathlib.Path(log).unlink(missing_ok=True)
    # Some ten collections a second, as a busy server has.
    java = [str(jdk / "bin/java"), "-Xmx1g", "-Xmn128m", COLLECTORS[collector], f"-Xlog:gc,safepoint:file={log}:tn", "-cp", classes, "Pauses", str(seconds)]
    command = [twinscope, "record", "-q", "-f", "-o", recording, "--only", "jvm", "--", *java]
    if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
        return
    pauses = logged(log)
    told = rows(twinscope, recording, "select at / 1e6 as at, time / 1e6 as time, together, exact from jvm_pause where kind <> 'operation'")
    single = [(float(r["at"]), float(r["time"])) for r in told if r["exact"] == "1" and float(r["together"]) == 1]
    # A line of the log is written a little after the end of its pause: the median of that is taken out.
    start = int(rows(twinscope, recording, "select start_monotonic as t from run")[0]["t"]) / 1e6
    after = [min((end - start - at - length for end, _ in pauses), key=abs, default=0) for at, length in single]
    shift = start + (statistics.median(after) if after else 0)
    found, begin_off, length_off = 0, [], []
    longer = [(end, length) for end, length in pauses if length >= 1]
    for end, length in longer:
        near = min(single, key=lambda p: abs(p[0] + p[1] + shift - end), default=None)
        if near and abs(near[0] + near[1] + shift - end) < 1 and abs(near[1] - length) < max(0.1, 0.04 * length):
            found += 1
            begin_off.append(abs(near[0] + shift - (end - length)))
            length_off.append(abs(near[1] - length) / length)
    say(what, "pauses of 1 ms and more", "", len(longer))
    if longer:
        say(what, "of these told one by one", "%", f"{100 * found / len(longer):.1f}")
    if found:
        say(what, "begin off, median", "µs", f"{1000 * statistics.median(begin_off):.0f}")
        say(what, "length off, median", "%", f"{100 * statistics.median(length_off):.2f}")
    total = sum(length for _, length in pauses)
    if total:
        say(what, "sum of all, off", "%", f"{100 * abs(sum(float(r['time']) for r in told) / total - 1):.2f}")


def used(twinscope, sources, seconds, work, *whom):
    """CPU time of a recording of the machine: in its first five seconds, when the way in JVMs is found, and after that as a share of a CPU."""
    recording = f"{work}/cost.twin"
    subprocess.run(
        [twinscope, "record", "-q", "-f", "-o", recording, "--only", sources, "--duration", f"{seconds + 6}s", *whom],
        stdin=subprocess.DEVNULL, capture_output=True, check=True)
    told = [(float(r["t"]) / 1e9, float(r["cpu"]) / 1e9) for r in rows(twinscope, recording, "select t, cpu from recorder order by t")]
    told = [(t, cpu) for t, cpu in told if 4.5 < t < seconds + 5.5]
    (from_t, from_cpu), (to_t, to_cpu) = told[0], told[-1]
    return from_cpu, (to_cpu - from_cpu) / (to_t - from_t)


def costs(twinscope, jdk, classes, seconds, work):
    for what, count, lasts in [("one JVM, idle", 1, "0.1"), ("one JVM that collects", 1, "100000"), ("16 JVMs, idle", 16, "0.1")]:
        # It waits for its input to end when its time is up.
        program = ["Pauses", lasts]
        java = [str(jdk / "bin/java"), "-Xmx64m", "-XX:+UseSerialGC", "-cp", classes, *program]
        running = [subprocess.Popen(java, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(count)]
        try:
            time.sleep(3)
            pairs = [(used(twinscope, "cpu", seconds, work), used(twinscope, "cpu,jvm", seconds, work)) for _ in range(3)]
            shares = [100 * (jvm[1] - cpu[1]) for cpu, jvm in pairs]
            say(what, "CPU time beyond a recording of `cpu` alone, after five seconds", "% of a CPU", " ".join(f"{share:.3f}" for share in shares))
            say(what, "once, in the first five seconds", "ms", f"{1000 * statistics.median(jvm[0] - cpu[0] for cpu, jvm in pairs):.0f}")
        finally:
            for java in running:
                java.kill()
                java.wait()


def allocations(twinscope, jdk, classes, seconds, work):
    what, recording = f"JDK {feature(jdk)}, 500 MB/s", f"{work}/run.twin"
    java = [str(jdk / "bin/java"), "-Xmx256m", "-cp", classes, "Allocations", "500", str(seconds), "2"]
    command = [twinscope, "record", "-q", "-f", "-o", recording, "--only", "jvm,stacks,allocation", "--", *java]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    told = rows(twinscope, recording, "select sum(bytes) as bytes, sum(count) as count from allocation where thread like 'worker-%'")[0]
    own = rows(
        twinscope, recording,
        "select sum(bytes) as bytes from (select max(allocated) as bytes from jvm_thread where name like 'worker-%' group by tid)")[0]
    if told["bytes"] and own["bytes"]:
        say(what, "buffers", "", told["count"])
        say(what, "bytes allocated, off", "%", f"{100 * (float(told['bytes']) / float(own['bytes']) - 1):.2f}")


def cost_of_allocations(twinscope, jdk, classes, seconds, work):
    for pace, what in [("500", "one JVM that allocates 500 MB/s"), ("3000", "the same, 3 GB/s")]:
        java = [str(jdk / "bin/java"), "-Xmx512m", "-cp", classes, "Allocations", pace, "100000", "2"]
        with subprocess.Popen(java, stdout=subprocess.DEVNULL) as running:
            try:
                time.sleep(4)
                shares = []
                for _ in range(3):
                    whom = ("--pid", str(running.pid))
                    _, without = used(twinscope, "cpu,stacks", seconds, work, *whom)
                    shares.append(used(twinscope, "cpu,stacks,allocation", seconds, work, *whom)[1] - without)
                say(what, "CPU time beyond a recording of `cpu` and `stacks`", "% of a CPU", f"{100 * statistics.median(shares):.2f}")
            finally:
                running.kill()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--twinscope", default="target/release/twinscope")
    options.add_argument("--seconds", type=int, default=15, help="of each recording; 12 at least, since the recorder says every five what it used")
    options.add_argument("--part", choices=["accuracy", "costs"], help="only this; by default both")
    asked = options.parse_args()
    if asked.seconds < 12:
        options.error("--seconds: 12 at least")
    found = jdks()
    if not found:
        sys.exit("bench: no JDK in /usr/lib/jvm, nor in JAVA_HOME: left out")
    with tempfile.TemporaryDirectory() as work:
        classes = f"{work}/classes"
        subprocess.run([str(found[0] / "bin/javac"), "-nowarn", "-d", classes, PROGRAM, ALLOCATES], check=True)
        for jdk in found if asked.part != "costs" else []:
            for collector in COLLECTORS:
                accuracy(asked.twinscope, jdk, collector, classes, asked.seconds, work)
            allocations(asked.twinscope, jdk, classes, asked.seconds, work)
        if asked.part != "accuracy":
            costs(asked.twinscope, found[0], classes, asked.seconds, work)
            cost_of_allocations(asked.twinscope, found[0], classes, asked.seconds, work)


if __name__ == "__main__":
    main()
