"""Inserts rows into SQLite, each in a transaction of its own, against 50 in one."""

import os
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

frame.begin()
syncing = 0.0
with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH", "/var/tmp")) as folder:
    database = sqlite3.connect(os.path.join(folder, "rows.db"), isolation_level=None, check_same_thread=False)
    database.execute("create table rows (id integer primary key, name text, value real)")
    batch = 1 if frame.SLOW else 50
    row = 0

    def insert(_index):
        global row, syncing
        if row % batch == 0:
            database.execute("begin")
        row += 1
        database.execute("insert into rows (name, value) values (?, ?)", (f"row {row}", row * 0.5))
        if row % batch == 0:
            before = time.monotonic()
            database.execute("commit")
            syncing += time.monotonic() - before

    frame.run(1, insert)
    database.close()
frame.truth(f"seconds in commits {syncing:.3f}")
frame.lost_share(1)
