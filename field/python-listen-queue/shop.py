"""A small server on the standard library."""
import http.server
import os


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = int(os.environ["QUEUE"])


class Shop(http.server.BaseHTTPRequestHandler):
    wbufsize = -1

    def do_GET(self):
        answer = b"one article\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


Server(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
