"""A client of servers on this machine for scripts/bench/turns.sh, which counts what it did: requests that were answered whole, and how long that took.

usage: client.py ask PROTOCOL PORT CONNECTIONS EACH     as many requests on each connection, one after the other (PROTOCOL: http or memcached)
       client.py bytes PORT CONNECTIONS EACH            the same of HTTP, each request in pieces of one byte
       client.py half PORT CONNECTIONS                  connections on which nothing comes, or half a request, until they are closed
       client.py resets PORT COUNT                      connections that are reset: within the request, after it, and within the answer
       client.py datagrams PORT COUNT                   datagrams, each sent when the one before was answered

Prints "requests p50 p99", the latter in microseconds.
"""

import argparse
import selectors
import socket
import struct
import sys
import time

HTTP = b"GET /%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: client\r\n\r\n"
MEMCACHED = b"get some-key\r\n"
# A connection that is closed so is reset: struct linger, socket(7).
RESET = struct.pack("ii", 1, 0)


def http_complete(answer):
    """Whether an answer has all that its Content-Length says."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return False


def memcached_complete(answer):
    return answer.endswith(b"END\r\n")


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class Asking:
    """One connection: what it waits for, and what came of it so far."""

    def __init__(self, port, each):
        self.socket = connect(port)
        self.left = each
        self.answer = b""
        self.since = 0

    def ask(self, request, pieces):
        self.answer = b""
        self.since = time.perf_counter()
        for piece in pieces(request):
            self.socket.sendall(piece)


def ask(request, complete, port, connections, each, pieces=lambda request: (request,)):
    """All connections are opened before the first request, so that so many are open at once."""
    waiting = selectors.DefaultSelector()
    took = []
    opened = [Asking(port, each) for _ in range(connections)]
    for asking in opened:
        asking.ask(request, pieces)
        waiting.register(asking.socket, selectors.EVENT_READ, asking)
    while opened and waiting.get_map():
        ready = waiting.select(10)
        if not ready:
            sys.exit("client.py: no answer for ten seconds")
        for key, _ in ready:
            asking = key.data
            part = asking.socket.recv(65536)
            asking.answer += part
            if complete(asking.answer):
                took.append(time.perf_counter() - asking.since)
                asking.left -= 1
                if asking.left:
                    asking.ask(request, pieces)
                    continue
            elif part:
                continue
            waiting.unregister(asking.socket)
            asking.socket.close()
    return took


def by_bytes(request):
    for at in range(len(request)):
        # Time for the server to read it by itself.
        time.sleep(0.00002)
        yield request[at : at + 1]


def half(port, connections):
    opened = [connect(port) for _ in range(connections)]
    for at, connection in enumerate(opened):
        if at % 2:
            connection.sendall((HTTP % b"")[:30])
    time.sleep(2)
    for connection in opened:
        connection.close()
    return []


def resets(port, count):
    took = []
    for at in range(count):
        connection = connect(port)
        since = time.perf_counter()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        if at % 4 == 0:
            connection.sendall((HTTP % b"")[:30])
        elif at % 4 == 1:
            connection.sendall(HTTP % b"")
        elif at % 4 == 2:
            connection.sendall(HTTP % b"large")
            connection.recv(1000)
        else:
            connection.sendall(HTTP % b"")
            answer = b""
            while not http_complete(answer):
                answer += connection.recv(65536)
            took.append(time.perf_counter() - since)
        connection.close()
    return took


def datagrams(port, count):
    took = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect(("127.0.0.1", port))
        asking.settimeout(10)
        for _ in range(count):
            since = time.perf_counter()
            asking.send(b"a question")
            asking.recv(2000)
            took.append(time.perf_counter() - since)
    return took


def main(what, *words):
    numbers = [int(word) for word in words if word.isdigit()]
    if what == "ask" and words[0] == "memcached":
        took = ask(MEMCACHED, memcached_complete, *numbers)
    elif what == "ask":
        took = ask(HTTP % b"", http_complete, *numbers)
    elif what == "bytes":
        took = ask(HTTP % b"", http_complete, *numbers, pieces=by_bytes)
    elif what == "half":
        took = half(*numbers)
    elif what == "resets":
        took = resets(*numbers)
    elif what == "datagrams":
        took = datagrams(*numbers)
    else:
        sys.exit(__doc__)
    took.sort()
    at = lambda share: 1e6 * took[min(len(took) - 1, int(share * len(took)))] if took else 0
    print(len(took), f"{at(0.5):.0f}", f"{at(0.99):.0f}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("words", nargs="+")
    main(*options.parse_args().words)
