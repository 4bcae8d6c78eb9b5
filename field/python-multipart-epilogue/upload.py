import os
import sys
import logging
from python_multipart.multipart import MultipartParser

logging.basicConfig(filename=os.path.join(os.environ["RUN"], "upload.log"), format="%(asctime)s %(levelname)s %(name)s %(message)s")

head = b'--frontier\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
# A client that pads its bodies to a multiple of 1 kB.
body = (head + bytes(148_000) + b"\r\n--frontier--\r\n").ljust(148_480, b" ")
received = 0


def on_part_data(data, start, end):
    global received
    received += end - start


for _ in range(int(sys.argv[1])):
    parser = MultipartParser(b"frontier", {"on_part_data": on_part_data})
    for start in range(0, len(body), 4096):
        parser.write(body[start : start + 4096])
    parser.finalize()
print(received, "bytes")
