"""The state of deployments over HTTP, by the standard library's server with connections that are kept. Its handler writes the
head and the body of an answer separately, and in slow, as by default, does not switch off Nagle's algorithm: the body waits
until the client has acknowledged the head, which the client delays."""

import http.server
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

VARIANT, PORT = frame.words(2, "slow|fast PORT")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = VARIANT == "fast"

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        state = {"deployment": number, "state": "running", "steps": [{"step": i, "took": number * i % 97} for i in range(20)]}
        body = json.dumps(state).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
