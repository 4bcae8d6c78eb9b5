import socket
import sys
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2])
connection = socket.create_connection(("127.0.0.1", port))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
answers = connection.makefile()
begin = next_line = time.monotonic()
answered = 0
while (now := time.monotonic()) < begin + seconds:
    connection.sendall(b"%d\n" % (answered % 2000))
    answers.readline()
    answered += 1
    if now > next_line:
        print("answers", answered, flush=True)
        next_line = now + 0.5
print("answers", answered)
