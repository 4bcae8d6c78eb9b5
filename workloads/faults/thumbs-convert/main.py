"""Converts uploads with a helper program, one process an upload, and gives up on one that takes too long."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

LIMIT = 10


def convert(number):
    """Starts the helper and waits for it; it waits for its remote store a while, as helpers do."""
    pause = 34 + number % 5
    helper = subprocess.Popen(["sleep", f"0.{pause:03}"], stdin=subprocess.DEVNULL)
    try:
        return helper.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        helper.kill()
        return helper.wait()


def convert_watched(number):
    """The same, with the descriptor of the process instead of a time to look again."""
    import select

    pause = 34 + number % 5
    helper = subprocess.Popen(["sleep", f"0.{pause:03}"], stdin=subprocess.DEVNULL)
    descriptor = os.pidfd_open(helper.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        if not poller.poll(LIMIT * 1000):
            helper.kill()
        return helper.wait()
    finally:
        os.close(descriptor)


frame.begin()
frame.EVERY = 0.1
number = [0, 0]


def upload(index):
    number[index] += 1
    if (convert if frame.SLOW else convert_watched)(number[index] * 2 + index) != 0:
        raise RuntimeError("an upload was not converted")


frame.run(2, upload)
frame.lost_share(1)
