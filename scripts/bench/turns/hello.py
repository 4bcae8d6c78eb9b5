"""A server that answers every request with some words, for scripts/bench/turns.sh.

By itself it is Python's http.server with a thread for each connection (argument: port); `wsgi` is what gunicorn serves, `asgi` what uvicorn serves,
`slow PORT` is http.server that takes 20 to 60 ms for an answer, and `udp PORT` answers datagrams, while the port is open for TCP too.
"""

import argparse
import http.server
import random
import socket
import time

ANSWER = b"Hello, and well met.\n"
LENGTH = str(len(ANSWER))


def wsgi(_, start):
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", LENGTH)])
    return [ANSWER]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", LENGTH.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


class Hello(http.server.BaseHTTPRequestHandler):
    # The answer goes out in two parts, of which the second would wait for the client to acknowledge the first.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    slow = False

    def do_GET(self):
        if self.slow:
            time.sleep(random.uniform(0.02, 0.06))
        self.send_response(200)
        self.send_header("Content-Length", LENGTH)
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024


def answer_datagrams(port):
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(("127.0.0.1", port))
    # Who waits for it to listen connects.
    with socket.create_server(("127.0.0.1", port)):
        while True:
            _, whose = questions.recvfrom(2000)
            questions.sendto(ANSWER, whose)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kind", nargs="?", choices=["slow", "udp"])
    options.add_argument("port", type=int)
    asked = options.parse_args()
    if asked.kind == "udp":
        answer_datagrams(asked.port)
    Hello.slow = asked.kind == "slow"
    Server(("127.0.0.1", asked.port), Hello).serve_forever()
