#!/usr/bin/env python3
"""Answers questions about a fleet with DuckDB: twinscope fleet bands FLEET --engine 'python3 engines/duckdb.py'

Reads JSON lines and answers each with one (docs/engines.md). Needs the package duckdb. Environment: DUCKDB_MEMORY, such
as 4GB, is the most that it takes; DUCKDB_SETUP is a statement that is run first, as for credentials of an object store.
"""

import argparse
import json
import os
import sys
import time

# This file has the name of the package: that is looked for elsewhere.
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
import duckdb  # noqa: E402

KINDS = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "single": "FLOAT"}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def view(db, name, about):
    """Makes a view of files, with some columns renamed; of no files a table without rows."""
    rename = about.get("rename", {})
    if about["paths"]:
        files = "[" + ", ".join(quoted(path) for path in about["paths"]) + "]"
        columns = "".join(f', "{old}" AS {new}' for old, new in rename.items())
        left = f" EXCLUDE ({', '.join(chr(34) + old + chr(34) for old in rename)})" if rename else ""
        source = f"SELECT *{left}{columns} FROM read_parquet({files}, union_by_name = true)"
    else:
        nulls = [f'CAST(NULL AS {KINDS[kind]}) AS "{rename.get(column, column)}"' for column, kind in about["columns"]]
        source = f"SELECT {', '.join(nulls)} LIMIT 0"
    db.execute(f'CREATE OR REPLACE VIEW "{name}" AS {source}')


def answer(db, message):
    """Does what a message asks for, and says how many rows there are."""
    if "views" in message:
        for name, about in message["views"].items():
            view(db, name, about)
        return 0
    # The comments of a statement may end with its last line.
    copy = f"COPY (\n{message['ask']}\n) TO {quoted(message['put'])} (FORMAT parquet, COMPRESSION zstd)"
    return db.execute(copy).fetchone()[0]


def main():
    db = duckdb.connect()
    if "DUCKDB_MEMORY" in os.environ:
        db.execute(f"SET memory_limit = {quoted(os.environ['DUCKDB_MEMORY'])}")
    if "DUCKDB_SETUP" in os.environ:
        db.execute(os.environ["DUCKDB_SETUP"])
    for line in sys.stdin:
        began = time.monotonic()
        try:
            said = {"rows": answer(db, json.loads(line))}
        except Exception as error:  # whatever it is, it is the answer
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({**said, "seconds": time.monotonic() - began}), flush=True)


main()
