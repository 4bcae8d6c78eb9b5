"""Bursts of 32 connections to a server that takes a moment for each: with room for 4 waiting ones, where the kernel drops the
others and clients ask again after a second, against room for 512."""

import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

BURST = 32


def serve(listener):
    while True:
        connection, _ = listener.accept()
        name = connection.recv(100)
        for _ in range(40):
            name = bytes(reversed(name + name))[:400]
        time.sleep(0.002)
        connection.sendall(name[:10])
        connection.close()


frame.begin()
listener = socket.create_server(("127.0.0.1", 0), backlog=4 if frame.SLOW else 512)
child = os.fork()
if child == 0:
    serve(listener)
late = [0] * BURST


def connect(index):
    before = time.monotonic()
    with socket.create_connection(listener.getsockname()) as connection:
        late[index] += time.monotonic() - before > 0.9
        connection.sendall(b"client %d" % index)
        connection.recv(10)


done = 0
stop = threading.Event()


def bursts():
    global done
    while not frame.stopped:
        clients = [threading.Thread(target=connect, args=(index,)) for index in range(BURST)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        done += BURST


runner = threading.Thread(target=bursts, name="bursts")
runner.start()
frame.progress(lambda: done)
runner.join()
os.kill(child, 9)
os.waitpid(child, 0)
frame.finish(done)
frame.truth(f"connections that waited a second or more {sum(late)}")
frame.lost_share(1)
