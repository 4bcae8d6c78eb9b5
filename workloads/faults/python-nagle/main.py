"""A client that sends a request as a header and a body, two writes, and waits for the answer: the second waits for the
acknowledgement of the first, which the server delays. Fast sends both in one write."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

BODY = b"x" * 200
HEADER = b"LENGTH %8d\n" % len(BODY)


def receive(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def serve(listener):
    connection, _ = listener.accept()
    try:
        while True:
            length = int(receive(connection, len(HEADER)).split()[1])
            connection.sendall(bytes(reversed(receive(connection, length))))
    except (EOFError, ConnectionError):
        os._exit(0)


frame.begin()
listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    serve(listener)
client = socket.create_connection(listener.getsockname())


def ask(_index):
    if frame.SLOW:
        client.sendall(HEADER)
        client.sendall(BODY)
    else:
        client.sendall(HEADER + BODY)
    receive(client, len(BODY))


frame.run(1, ask)
client.close()
os.waitpid(child, 0)
frame.lost_share(1)
