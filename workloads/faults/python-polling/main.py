"""Waits for the result of a child by looking every 5 ms, as with a lock file, against reading its pipe."""

import hashlib
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

frame.begin()
to_child, to_parent = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.close(to_child[1])
    while data := os.read(to_child[0], 64):
        for _ in range(400):
            data = hashlib.sha256(data).digest()
        os.write(to_parent[1], data)
    os._exit(0)
os.set_blocking(to_parent[0], not frame.SLOW)
sleeps = 0
answer = b"start"


def ask(_index):
    global answer, sleeps
    os.write(to_child[1], answer)
    while True:
        try:
            answer = os.read(to_parent[0], 64)
            return
        except BlockingIOError:
            sleeps += 1
            time.sleep(0.005)


frame.run(1, ask)
os.close(to_child[1])
os.kill(child, 15)
os.waitpid(child, 0)
frame.truth(f"sleeps {sleeps}")
frame.lost_share(1)
