#!/usr/bin/env python3
"""What `twinscope sharing` says of workloads/sharing, against what the programs themselves say.

usage: scripts/bench/sharing.py [--seconds 6] [--twinscope PATH] [--keep DIR] [--tsv] [NAME ...]

Records each program with --sharing, and runs its mended twin; prints a row a program, and at the end how many are right:
kind, function, data and fields, and the predicted speed-up beside the measured one (CPU time an operation takes in the
program while it is recorded, by that of the twin). Build first: make -C workloads/sharing.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "sharing")


def cost(text):
    """CPU time an operation took, ns, by the program's own count."""
    found = re.search(r"truth: cpu ns per operation ([0-9.]+)", text)
    return float(found.group(1)) if found else None


def run(command, seconds, threads, more, before=()):
    words = command.split()
    words[0] = os.path.join(HERE, words[0]) if words[0].startswith("bin/") else words[0]
    words = [os.path.join(HERE, word) if word.startswith("bin/") else word for word in words]
    line = [*before, *words, str(seconds), str(threads), *([str(more)] if more is not None else [])]
    done = subprocess.run(line, cwd=HERE, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=int, default=6)
    asked.add_argument("--twinscope", default=os.path.join(HERE, "..", "..", "target", "release", "twinscope"))
    asked.add_argument("--keep", help="a folder for the recordings")
    asked.add_argument("--tsv", action="store_true", help="as the rows of scripts/bench.sh")
    asked.add_argument("names", nargs="*")
    asked = asked.parse_args()
    twinscope = os.path.abspath(asked.twinscope)
    with open(os.path.join(HERE, "programs.toml"), "rb") as file:
        programs = tomllib.load(file)
    names = asked.names or list(programs)
    folder = asked.keep or tempfile.mkdtemp(prefix="sharing-")
    os.makedirs(folder, exist_ok=True)
    sums = {"guilty": 0, "kind": 0, "function": 0, "data": 0, "fields": 0, "speed": 0, "timed": 0, "innocent": 0, "silent": 0}
    show = (lambda *words, **_: print(*words, file=sys.stderr)) if asked.tsv else print
    show(f"{'program':<22} {'expected':<9} {'said':<7} {'what':<44} {'fields':<24} {'predicted':>18} {'measured':>8}")
    for name in names:
        program = programs[name]
        threads, more = program.get("threads", 2), program.get("more")
        path = os.path.join(folder, f"{name}.twin")
        before = [twinscope, "record", "--sharing", "-q", "--force", "-o", path, "--"]
        said = run(program["command"], asked.seconds, threads, more, before)
        shown = subprocess.run([twinscope, "sharing", path, "--json"], capture_output=True, text=True, check=False)
        try:
            found = json.loads(shown.stdout)
        except json.JSONDecodeError:
            show(f"{name:<22} nothing to read: {shown.stderr.strip()[:120]} {said.strip()[-200:]}")
            found = {"findings": []}
        first = found["findings"][0] if found["findings"] else None
        kinds = [program["kind"], *program.get("accepts", [])]
        kind = first["kind"] if first else "none"
        ratio = None
        if program["kind"] == "none":
            sums["innocent"] += 1
            sums["silent"] += first is None
        else:
            sums["guilty"] += 1
            right = kind in kinds
            sums["kind"] += right
            if first:
                accesses = [a for at in first["lines"] for a in found["lines"][at]["accesses"]]
                functions = [a[key] for a in accesses for key in ("function", "within")]
                wanted = [where.split(":", 1)[1] for where in program.get("where", [])]
                sums["function"] += any(w in f for w in wanted for f in functions) or not wanted
                sums["data"] += program.get("name", "") in first["name"]
                last = [re.split(r"[.\]]", field)[-1] or field for field in first["fields"]]
                wanted = program.get("fields", [])
                sums["fields"] += not wanted or any(w in last or w in first["fields"] for w in wanted)
            elif "none" in kinds:
                for key in ("function", "data", "fields"):
                    sums[key] += 1
            if program.get("mended") and first:
                mended = cost(run(program["mended"], 2, threads, more))
                slow = cost(said)
                if mended and slow:
                    ratio = slow / mended
                    sums["timed"] += 1
                    sums["speed"] += 0.7 <= first["speedup"]["value"] / ratio <= 1.3
        predicted = ""
        if first:
            s = first["speedup"]
            predicted = f"{s['value']:.1f} ({s['low']:.1f} to {s['high']:.1f})"
        what = f"{first['name'][:28]} {first['functions'][0]['name'][:14]}" if first else ""
        fields = ", ".join(first["fields"])[:24] if first else ""
        measured = f"{ratio:.1f}" if ratio else ""
        if asked.tsv and ratio:
            print(f"{name}\tpredicted speed-up\t×\t{first['speedup']['value']:.2f}")
            print(f"{name}\tmeasured\t×\t{ratio:.2f}")
        mark = " " if kind in kinds else "!"
        show(f"{name:<22} {program['kind']:<9}{mark}{kind:<7} {what:<44} {fields:<24} {predicted:>18} {measured:>8}", flush=True)
    rows = [
        ("guilty programs", sums["guilty"]),
        ("of these, kind right", sums["kind"]),
        ("function right", sums["function"]),
        ("data right", sums["data"]),
        ("a field right", sums["fields"]),
        ("programs with a mended twin that were found", sums["timed"]),
        ("of these, predicted speed-up within 30 %", sums["speed"]),
        ("innocent programs", sums["innocent"]),
        ("of these, silent", sums["silent"]),
    ]
    for words, value in rows:
        print(f"all\t{words}\t\t{value}" if asked.tsv else f"{value:>4}  {words}")


if __name__ == "__main__":
    sys.exit(main())
