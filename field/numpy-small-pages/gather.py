import sys, time
import numpy as np

seconds = float(sys.argv[1])
random = np.random.default_rng(1)
table = np.ones(60_000_000)
places = random.integers(0, table.size, 8_000_000)
out = np.empty(100_000)
begin = said = time.monotonic()
done = 0
while time.monotonic() - begin < seconds:
    first = done % 80 * 100_000
    np.take(table, places[first:first + 100_000], out=out, mode="clip")
    done += 1
    if time.monotonic() - said > 0.5:
        said = time.monotonic()
        print("done", done, flush=True)
print("done", done)
