"""What the Python programs share: the command line, threads that count operations, progress on stdout, truths."""

import os
import signal
import sys
import threading
import time

SLOW = False
SECONDS = 10.0
EVERY = 1.0  # seconds between two lines of progress
stopped = False
started = 0.0


def begin():
    """Reads the command line; stops cleanly on signals."""
    global SLOW, SECONDS, started
    words = sys.argv[1:]
    if not words or words[0] not in ("slow", "fast") or len(words) not in (1, 3) or (len(words) == 3 and words[1] != "--seconds"):
        print(f"usage: {sys.argv[0]} slow|fast [--seconds S]", file=sys.stderr)
        sys.exit(0 if words[:1] in (["--help"], ["-h"]) else 2)
    SLOW = words[0] == "slow"
    if len(words) == 3:
        SECONDS = float(words[2])
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    started = time.monotonic()


def words(count, usage):
    """The words of a program that has others than a variant and a time: count of them, no more and no less."""
    given = sys.argv[1:]
    if len(given) != count:
        asked = given[:1] in (["--help"], ["-h"])
        print(f"usage: {sys.argv[0]} {usage}", file=sys.stdout if asked else sys.stderr)
        sys.exit(0 if asked else 2)
    return given


def stop(*_):
    global stopped
    stopped = True


def truth(text):
    print("truth:", text, flush=True)


def lost_share(share):
    """The part of the slow-down that the fault itself makes; 0 in the fast variant."""
    truth(f"lost share {share if SLOW else 0:.3f}")


def progress(count):
    """Waits until the time is up and prints count() every EVERY seconds and at the end."""
    global stopped
    following = started + EVERY
    while not stopped:
        now = time.monotonic()
        if now >= started + SECONDS:
            break
        if now >= following:
            print("done", count(), flush=True)
            following += EVERY
        time.sleep(max(0.001, min(following, started + SECONDS) - now))
    stopped = True


def finish(total):
    print(f"done {total}\noperations: {total}", flush=True)
    truth(f"wall seconds {time.monotonic() - started:.3f}")


def run(threads, operation):
    """Runs operation(index) again and again in threads until the time is up."""
    done = [0] * threads

    def body(index):
        while not stopped:
            operation(index)
            done[index] += 1

    workers = [threading.Thread(target=body, args=(index,), name=f"worker-{index}") for index in range(threads)]
    for worker in workers:
        worker.start()
    progress(lambda: sum(done))
    for worker in workers:
        worker.join()
    finish(sum(done))


def run_processes(count, operation):
    """As run, in processes that each have an interpreter of their own."""
    reader, writer = os.pipe()
    children = []
    for index in range(count):
        child = os.fork()
        if child == 0:
            os.close(reader)
            unsaid, said = 0, time.monotonic()
            while not stopped and time.monotonic() < started + SECONDS:
                operation(index)
                unsaid += 1
                if time.monotonic() > said + min(0.2, EVERY / 2):
                    os.write(writer, b"%d\n" % unsaid)
                    unsaid, said = 0, time.monotonic()
            os.write(writer, b"%d\n" % unsaid)
            os._exit(0)
        children.append(child)
    os.close(writer)
    total = [0]

    def collect():
        with os.fdopen(reader) as lines:
            for line in lines:
                total[0] += int(line)

    collector = threading.Thread(target=collect, name="collect")
    collector.start()
    progress(lambda: total[0])
    for child in children:
        os.waitpid(child, 0)
    collector.join()
    finish(total[0])
