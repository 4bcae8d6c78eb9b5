"""Two clients read sessions by the clock, a third one counts those of a kind now and then: PORT keys|scan SECONDS."""
import random
import sys
import threading
import time

import redis

port, look, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
begin = time.monotonic()
took = []


def read(seed):
    server, choice, due = redis.Redis(port=port), random.Random(seed), begin
    while due < begin + seconds:
        time.sleep(max(0, due - time.monotonic()))
        server.get(f"session:{choice.randint(1, 300000)}")
        took.append(time.monotonic() - due)
        due += 0.005


def count():
    server = redis.Redis(port=port)
    while time.monotonic() < begin + seconds:
        if look == "keys":
            found = len(server.keys("session:*999"))
        else:
            found = sum(1 for _ in server.scan_iter("session:*999", count=500))
        assert found == 300
        time.sleep(0.5)


threads = [threading.Thread(target=read, args=(1,)), threading.Thread(target=read, args=(2,)), threading.Thread(target=count)]
for thread in threads:
    thread.start()
while time.monotonic() < begin + seconds:
    time.sleep(1)
    print("done", len(took), flush=True)
for thread in threads:
    thread.join()
print("done", len(took))
print("p99 %.3f ms" % (sorted(took)[int(len(took) * 0.99)] * 1000))
