"""Answers the price of an article, from a table in memory."""
import socketserver
import sys


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        article = int(self.rfile.readline())
        self.wfile.write(b"%d\n" % prices[article])


class Server(getattr(socketserver, sys.argv[1]), socketserver.TCPServer):
    allow_reuse_address = True
    request_queue_size = 64


prices = {article: article * 7 % 1009 for article in range(600_000)}
Server(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
