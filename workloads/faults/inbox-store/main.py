"""Four processes store incoming mail in one SQLite file; for each mail a virus scanner is asked, which answers after 2 ms."""

import hashlib
import os
import socket
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

WRITERS = 4


def scanner(listening):
    """The scanner, in a process of its own: a thread for each who asks."""

    def serve(connection):
        while question := connection.recv(64):
            time.sleep(0.002)
            connection.sendall(question[:1])

    while True:
        connection, _ = listening.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


class Inbox:
    def __init__(self, path, scanner_path):
        self.database = sqlite3.connect(path, isolation_level=None, timeout=30)
        self.database.execute("pragma synchronous = off")
        self.scanner = socket.socket(socket.AF_UNIX)
        self.scanner.connect(scanner_path)

    def clean(self, digest):
        self.scanner.sendall(digest)
        return self.scanner.recv(1) == digest[:1]

    def write(self, digest, text):
        self.database.execute("insert into mails (digest, text) values (?, ?)", (digest, text))
        self.database.execute("update boxes set mails = mails + 1 where id = ?", (digest[0] % 16,))

    def store(self, text):
        digest = hashlib.sha256(text).digest()
        if frame.SLOW:
            self.database.execute("begin immediate")
            if self.clean(digest):
                self.write(digest, text)
            self.database.execute("commit")
        elif self.clean(digest):
            self.database.execute("begin immediate")
            self.write(digest, text)
            self.database.execute("commit")


frame.begin()
frame.EVERY = 0.1
with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as folder:
    path, scanner_path = os.path.join(folder, "inbox"), os.path.join(folder, "scanner")
    with sqlite3.connect(path) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table mails (digest blob, text blob)")
        database.execute("create table boxes (id integer primary key, mails integer)")
        database.executemany("insert into boxes values (?, 0)", [(box,) for box in range(16)])
    database.close()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(scanner_path)
    listening.listen(16)
    scanning = os.fork()
    if scanning == 0:
        scanner(listening)
        os._exit(0)
    inboxes = {}
    number = 0

    def receive(index):
        global number
        number += 1
        if index not in inboxes:
            inboxes[index] = Inbox(path, scanner_path)
        inboxes[index].store(b"mail %d of writer %d " % (number, index) * 40)

    frame.run_processes(WRITERS, receive)
    os.kill(scanning, 9)
    os.waitpid(scanning, 0)
frame.lost_share(1)
