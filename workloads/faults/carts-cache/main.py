"""A client of a cache of shopping carts: sets and reads fields of the hashes that it keeps, many commands at a time."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

PORT = int(os.environ.get("PORT", "16393"))
CARTS, FIELDS, AT_ONCE = 8, 900, 40


def command(*words):
    parts = [b"*%d\r\n" % len(words)]
    parts.extend(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    return b"".join(parts)


class Connection:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def ask(self, commands, lines):
        """Sends commands together and waits for so many lines of answers."""
        self.socket.sendall(b"".join(commands))
        while self.rest.count(b"\r\n") < lines:
            got = self.socket.recv(65536)
            if not got:
                raise ConnectionError("the cache has gone")
            self.rest += got
        answers, self.rest = self.rest.split(b"\r\n")[:lines], b""
        if any(answer.startswith(b"-") for answer in answers):
            raise RuntimeError(answers)


def cart(number):
    return b"carts:%d" % (number % CARTS)


frame.begin()
frame.EVERY = 0.1
filling = Connection()
for number in range(CARTS):
    filling.ask([command(b"HSET", cart(number), b"article:%04d" % field, b"%d" % field) for field in range(FIELDS)], FIELDS)
connections = {}
numbers = [0, 0]


def change(index):
    if index not in connections:
        connections[index] = Connection()
    commands = []
    for _ in range(AT_ONCE // 2):
        numbers[index] += 1
        field = b"article:%04d" % (numbers[index] * 7919 % FIELDS)
        commands.append(command(b"HSET", cart(numbers[index]), field, b"%d" % (1000 + numbers[index] % 90)))
        commands.append(command(b"HEXISTS", cart(numbers[index] + 3), field))
    connections[index].ask(commands, AT_ONCE)


frame.run_processes(2, change)
frame.lost_share(1)
