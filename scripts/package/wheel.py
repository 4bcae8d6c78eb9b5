#!/usr/bin/env python3
"""Writes a wheel that holds the program, so that `pip install twinscope` and `uvx twinscope` have it.

usage: wheel.py VERSION MACHINE PREFIX FOLDER LEVEL

PREFIX is a tree with bin/twinscope and share/; LEVEL is the compression, 1 to 9.
The format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import argparse
import base64
import hashlib
import os
import re
import struct
import sys
import time
import zipfile
from pathlib import Path


def newest_libc(program: bytes) -> tuple[int, int]:
    """The newest version of the GNU C library that the program's symbols ask for."""
    versions = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", program)]
    if not versions:
        sys.exit("wheel: the program names no version of the GNU C library: is it linked dynamically?")
    return max(versions)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("version", "machine", "prefix", "folder", "level"):
        options.add_argument(name)
    asked = options.parse_args()
    version, machine, prefix, folder, level = asked.version, asked.machine, Path(asked.prefix), asked.folder, asked.level
    program = (prefix / "bin/twinscope").read_bytes()
    # e_machine of the ELF header: a wheel of the wrong machine would install and not run.
    of = {62: "x86_64", 183: "aarch64"}.get(struct.unpack_from("<H", program, 18)[0])
    if program[:4] != b"\x7fELF" or of != machine:
        sys.exit(f"wheel: {prefix}/bin/twinscope: is no program for {machine}")
    major, minor = newest_libc(program)
    tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
    info = f"twinscope-{version}.dist-info"
    data = f"twinscope-{version}.data"
    doc = prefix / "share/doc/twinscope"

    metadata = (
        "Metadata-Version: 2.4\n"
        "Name: twinscope\n"
        f"Version: {version}\n"
        "Summary: Comparison microscope for Linux performance: records a system, compares runs, names the cause\n"
        "License-Expression: Apache-2.0\n"
        + "".join(f"License-File: {name}\n" for name in ("LICENSE", "NOTICE", "THIRD-PARTY"))
        + "Project-URL: Source, https://github.com/twinscope/twinscope\n"
        "Requires-Python: >=3.7\n"
    )
    wheel = f"Wheel-Version: 1.0\nGenerator: twinscope\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files = [(f"{data}/scripts/twinscope", program, 0o755)]
    files += [
        (f"{data}/data/{page.relative_to(prefix)}", page.read_bytes(), 0o644)
        for page in sorted((prefix / "share/man").rglob("*.gz"))
    ]
    files += [
        (f"{info}/licenses/{name}", (doc / name).read_bytes(), 0o644) for name in ("LICENSE", "NOTICE", "THIRD-PARTY")
    ]
    files += [(f"{info}/METADATA", metadata.encode(), 0o644), (f"{info}/WHEEL", wheel.encode(), 0o644)]

    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))

    # Zip knows no time before 1980.
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    path = Path(folder) / f"twinscope-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=int(level)) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)


main()
