"""Labels of parcels over HTTP: for each a carrier is asked, which takes some milliseconds. A pool of threads serves the
connections: two in slow, sixteen in fast."""

import http.client
import http.server
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

VARIANT, PORT, CARRIER = frame.words(3, "slow|fast PORT PORT-OF-CARRIER")
THREADS = {"slow": 2, "fast": 16}[VARIANT]
PORT, CARRIER = int(PORT), int(CARRIER)
own = threading.local()  # each thread keeps a connection to the carrier


def route(number):
    if not hasattr(own, "carrier"):
        own.carrier = http.client.HTTPConnection("127.0.0.1", CARRIER)
    own.carrier.request("GET", "/route/" + number)
    return own.carrier.getresponse().read().strip()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def do_GET(self):
        label = b"<label>" + route(self.path.rpartition("/")[2]) + b"</label>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(label)))
        self.end_headers()
        self.wfile.write(label)

    def log_message(self, *_):
        pass


class Server(http.server.HTTPServer):
    request_queue_size = 128
    pool = ThreadPoolExecutor(THREADS, "label")

    def process_request(self, request, address):
        self.pool.submit(self.process, request, address)

    def process(self, request, address):
        try:
            self.finish_request(request, address)
        except OSError:
            pass
        finally:
            self.shutdown_request(request)


Server(("127.0.0.1", PORT), Handler).serve_forever()
