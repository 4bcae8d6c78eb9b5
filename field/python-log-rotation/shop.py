"""A small server with a thread for each connection. It logs what each request sent and got."""
import gzip
import http.server
import json
import logging
import logging.handlers
import os
import random
import shutil

OLD_LOGS = os.environ["OLD_LOGS"]


def compress(source, destination):
    with open(source, "rb") as plain, gzip.open(destination, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(source)


handler = logging.handlers.RotatingFileHandler(os.environ["RUN"] + "/shop.log", maxBytes=500_000, backupCount=3)
if OLD_LOGS == "gzip":
    handler.rotator = compress
    handler.namer = lambda name: name + ".gz"
handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(message)s"))
log = logging.getLogger("shop")
log.setLevel(logging.INFO)
log.addHandler(handler)
random.seed(2)
articles = [json.dumps({"id": i, "prices": random.sample(range(1_000_000), 300)}).encode() for i in range(100)]


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        answer = random.choice(articles)
        log.info("%s %s: %s", self.path, dict(self.headers), answer)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
