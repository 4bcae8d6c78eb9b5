import socket
import sys
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2])
end, answers, next_line = time.monotonic() + seconds, 0, 0
while (now := time.monotonic()) < end:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"%d\n" % (answers % 600_000))
        assert connection.makefile().readline()
    answers += 1
    if now > next_line:
        print("answers", answers, flush=True)
        next_line = now + 0.5
print("answers", answers, flush=True)
