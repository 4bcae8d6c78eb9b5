#!/usr/bin/env python3
"""Writes the licences of all that is linked into a program, from the sources that cargo and npm have fetched.

usage: licences.py CRATE        twinscope-cli or twinscope-recorder

What may be taken under the Apache License 2.0, as Twinscope is, is listed only; of the rest the texts are there.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

CRATES = "https://crates.io/crates/"
FETCHED = re.compile(r"^(licen[cs]e|copying|copyright|unlicense|notice)", re.IGNORECASE)

# What comes from elsewhere than crates.io, by the program that holds it.
BOTH = """
libelf of elfutils (https://sourceware.org/elfutils/), linked statically: GPL-2.0-or-later OR LGPL-3.0-or-later
zlib (https://zlib.net), linked statically: Zlib
libbpf (https://github.com/libbpf/libbpf), in the crate libbpf-sys: LGPL-2.1-only OR BSD-2-Clause
The standard library of Rust (https://github.com/rust-lang/rust): MIT OR Apache-2.0
"""
RECORDER = """
The GNU C library (https://www.gnu.org/software/libc/), linked statically: LGPL-2.1-or-later

The sources of Twinscope, with scripts/build-recorder.sh, link the program anew with other versions of these libraries.
"""
PROGRAM = """
SQLite (https://sqlite.org), in the crate libsqlite3-sys: in the public domain
Zstandard (https://github.com/facebook/zstd), in the crate zstd-sys: BSD-3-Clause
"""


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"licences: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def texts(folder: Path) -> list[str]:
    """The licences and notices that lie in a package's folder."""
    files = sorted(f for f in folder.iterdir() if f.is_file() and FETCHED.match(f.name))
    return [f.read_text(errors="replace").strip() for f in files]


def crates(program: str) -> list[tuple[str, str, str, Path]]:
    """Name and version, licence, origin and folder of each foreign crate in a program for Linux."""
    edges = ("--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}")
    lines = output("cargo", "tree", "--offline", "--package", program, *edges)
    linked = {tuple(line.split()[:2]) for line in lines.splitlines() if line}
    metadata = json.loads(
        output("cargo", "metadata", "--offline", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu")
    )
    return sorted(
        (f"{p['name']} {p['version']}", p["license"] or "see its text", CRATES + p["name"], Path(p["manifest_path"]).parent)
        for p in metadata["packages"]
        if p["source"] and (p["name"], "v" + p["version"]) in linked
    )


def page() -> list[tuple[str, str, str, Path]]:
    """The same of what is built into the report's page."""
    found = []
    for name in json.loads(Path("ui/package.json").read_text())["dependencies"]:
        folder = Path("ui/node_modules") / name
        if not folder.exists():
            sys.exit(f"licences: {folder}: is missing: run 'make ui'")
        package = json.loads((folder / "package.json").read_text())
        found.append((f"{name} {package['version']}", package["license"], f"https://www.npmjs.com/package/{name}", folder))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", metavar="CRATE", choices=["twinscope-cli", "twinscope-recorder"])
    program = options.parse_args().program
    packages = crates(program) + (page() if program == "twinscope-cli" else [])
    if len(packages) < 20:
        sys.exit(f"licences: {program}: only {len(packages)} packages were found")
    print("What is linked into this program beside Twinscope itself, and under which licences.")
    print(BOTH + (PROGRAM if program == "twinscope-cli" else RECORDER).lstrip("\n"))
    print("Under the Apache License 2.0, of which LICENSE is the text:\n")
    rest = []
    for name, licence, origin, folder in packages:
        choices = re.split(r" OR |/", licence.replace("(", "").replace(")", ""))
        if "Apache-2.0" in choices and " AND " not in licence:
            print(f"  {name}, {origin}")
            notices = [f for f in folder.iterdir() if f.name.lower().startswith("notice")]
            if notices:
                rest.append((name, "its notice", origin, [f.read_text(errors="replace").strip() for f in notices]))
        else:
            rest.append((name, licence, origin, texts(folder)))
    # The same text is there once.
    seen: dict[str, str] = {}
    for name, licence, origin, its in rest:
        print(f"\n{'-' * 80}\n{name}, {origin}\n{licence}")
        if not its:
            print("\n(comes without a text)")
        for text in its:
            key = " ".join(text.split())
            print(f"\n{text}" if key not in seen else f"\n(the text of {seen[key]})")
            seen.setdefault(key, name)


main()
