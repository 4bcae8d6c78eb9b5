"""Asks `date` for the day of each order, a process of its own, against the library."""

import datetime
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

frame.begin()
order = 0


def handle(_index):
    global order
    order += 1
    seconds = order * 3600 % 1_000_000_000
    if frame.SLOW:
        day = subprocess.run(["date", "-u", "-d", f"@{seconds}", "+%Y-%m-%d"], capture_output=True, text=True, check=True).stdout.strip()
    else:
        day = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d")
    return sum(hash((day, line)) for line in range(4000))


frame.run(1, handle)
frame.truth(f"processes {order if frame.SLOW else 0}")
frame.lost_share(1)
