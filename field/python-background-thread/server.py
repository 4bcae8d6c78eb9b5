"""Answers requests of one line; beside that it makes a summary of its stock again and again."""
import multiprocessing
import socketserver
import sys
import threading
import time

stock = {number: number * 7919 % 1009 for number in range(2000)}


def summarise():
    while True:
        for _ in range(180):
            sorted((count, number) for number, count in stock.items())
        time.sleep(0.05)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"%d\n" % stock[int(line)])


if __name__ == "__main__":
    kind = {"thread": threading.Thread, "process": multiprocessing.Process}[sys.argv[2]]
    kind(target=summarise, daemon=True).start()
    socketserver.TCPServer.allow_reuse_address = True
    socketserver.TCPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
