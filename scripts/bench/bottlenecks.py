#!/usr/bin/env python3
"""How well `asm` knows programs with one known bottleneck (workloads/bottlenecks): records each, and holds the class of
wait of its function, and the time of a round of its loop or between its calls, against what programs.toml declares and
what the program counts itself.

usage: scripts/bench/bottlenecks.py [NAME…]     TWINSCOPE=path of the program, SECONDS_EACH=number, QUICK=1 for the small sizes, TSV=1

Prints a line for each: class (right, or what it was taken for), part of the samples, ns a round and its error, or why it is unknown; and the sums.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "workloads" / "bottlenecks"
TWINSCOPE = os.path.realpath(os.environ.get("TWINSCOPE", ROOT / "target/release/twinscope"))
SECONDS = os.environ.get("SECONDS_EACH", "6")
# Rows of docs/benchmarks.md alone.
TSV = bool(os.environ.get("TSV"))
# A class is named if it has so much of the samples.
NAMED = 0.5


def truth(text, what):
    found = re.findall(rf"truth: ns per {what} ([0-9.]+)", text)
    return float(found[-1]) if found else None


def record(name, program, folder):
    recording = folder / f"{name}.twin"
    size = program["quick"] if os.environ.get("QUICK") else program["size"]
    command = [*shlex.split(program["command"]), SECONDS, str(size)]
    run = subprocess.run(
        [TWINSCOPE, "record", "-q", "-f", *(["--count-calls"] if "calls" in program else []), "-o", recording, "--", *command],
        cwd=PROGRAMS, capture_output=True, text=True, check=False,
    )
    return recording, run.stdout + run.stderr


def asm(recording, function):
    run = subprocess.run([TWINSCOPE, "asm", "--json", function, recording], capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


def judge(name, program, folder):
    recording, text = record(name, program, folder)
    innocent = program["class"] == "none"
    found = asm(recording, program["function"])
    side = found and found["slow"]
    if not side or side["samples"] < 20:
        return {"name": name, "class": innocent, "said": "nothing", "round": None, "why": "no samples"}
    waits = {"fetch-or-branch" if wait == "fetch" else wait: part for wait, part in side["waits"].items()}
    top, part = max(waits.items(), key=lambda item: item[1])
    if innocent:
        right = top == "core" or part < NAMED
    else:
        right = top in [program["class"], *program.get("accepts", [])]
    result = {"name": name, "class": right, "said": f"{top} {part:.0%}", "round": None, "why": ""}
    loops = [of for of in side["loops"] if of["share"] >= 0.5]
    known = [of for of in loops if "ns" in of["round"]]
    exact = truth(text, "operation")
    if known and exact:
        deepest = max(known, key=lambda of: of["depth"])
        operations = program.get("operations_per_round", 1)
        if program["counter"] == "jit":
            # Compilers of bytecode unroll loops as they like: by powers of two.
            operations = 2 ** max(0, round(math.log2(deepest["round"]["ns"] / exact)))
        ns = deepest["round"]["ns"] / operations
        result["round"] = (ns, ns / exact - 1)
    elif loops:
        result["why"] = max(loops, key=lambda of: of["depth"])["round"].get("unknown", "")
    called = side.get("calls")
    per_call = (exact or 0) * program.get("calls", 0)
    if called and per_call and not called["at_most"]:
        result["called"] = (called["between"], called["between"] / per_call - 1)
    result["verdict"] = next((of["verdict"] for of in loops if of["verdict"]), None)
    return result


def main():
    with open(PROGRAMS / "programs.toml", "rb") as file:
        programs = tomllib.load(file)
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME")
    names = options.parse_args().names or list(programs)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            program = programs[name]
            binary = PROGRAMS / shlex.split(program["command"])[0]
            if program["language"] != "Java" and not binary.exists():
                print(f"SKIPPED: {name}: it was not built", file=sys.stderr, flush=True)
                continue
            result = judge(name, program, pathlib.Path(folder))
            result["counter"] = program["counter"]
            results.append(result)
            verdict = "right" if result["class"] else f"WRONG, is {program['class']}"
            rounds = f"{result['round'][0]:.3f} ns ({result['round'][1]:+.1%})" if result["round"] else f"- {result['why']}"
            if "called" in result:
                rounds += f", called every {result['called'][0]:.0f} ns ({result['called'][1]:+.1%})"
            where = sys.stderr if TSV else sys.stdout
            print(f"{name:24} {result['said']:22} {verdict:26} {result['counter']:6} {rounds}", file=where, flush=True)
    told = [result for result in results if result["round"]]
    counted = [result for result in results if result["counter"] == "yes"]
    others = [result for result in told if result["counter"] != "yes"]
    called = [result for result in results if "called" in result]

    def near(of, what, part):
        return sum(1 for result in of if result[what] and abs(result[what][1]) <= part)

    rows = [
        ("programs", len(results)),
        ("of these, class of wait right", sum(result["class"] for result in results)),
        ("loops with a register that counts", len(counted)),
        ("of these, time of a round within 5 %", near(counted, "round", 0.05)),
        ("other loops whose time is told", len(others)),
        ("of these, within 5 %", near(others, "round", 0.05)),
        ("functions whose calls are told", len(called)),
        ("of these, time between calls within 7 %", near(called, "called", 0.07)),
    ]
    for words, value in rows:
        print(f"all\t{words}\t\t{value}" if TSV else f"{value:>4}  {words}")


main()
