"""Fetches files of 40 KB over TCP; the network around it loses packets or does not."""

import os
import signal
import socket
import sys
import threading
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

SIZE = 40_000


def serve(listener):
    connections = [listener.accept()[0] for _ in range(4)]

    def answer(connection):
        data = os.urandom(SIZE)
        while connection.recv(100):
            connection.sendall(data)

    for connection in connections:
        threading.Thread(target=answer, args=(connection,), name="answer").start()


frame.begin()
listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    serve(listener)
    while True:
        signal.pause()
connections = [socket.create_connection(listener.getsockname()) for _ in range(4)]


def fetch(index):
    connection = connections[index]
    connection.sendall(b"GET")
    left, check = SIZE, 0
    while left:
        part = connection.recv(left)
        left -= len(part)
        check = zlib.crc32(part, check)


frame.run(4, fetch)
os.kill(child, 9)
os.waitpid(child, 0)
with open("/proc/net/snmp") as counters:
    names, values = [line.split()[1:] for line in counters if line.startswith("Tcp:")]
frame.truth("segments sent again " + dict(zip(names, values))["RetransSegs"])
frame.lost_share(1)
