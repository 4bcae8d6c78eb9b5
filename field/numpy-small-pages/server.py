import http.server, sys
import numpy as np

random = np.random.default_rng(1)
table = np.ones(60_000_000)
places = random.integers(0, table.size, 8_000_000)
done = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        global done
        first = done % 80 * 100_000
        done += 1
        text = b"%d\n" % np.take(table, places[first:first + 100_000], mode="clip").sum()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
