import sys, time
import numpy as np

seconds = float(sys.argv[1])
random = np.random.default_rng(1)
table = np.zeros(40_000_000)
table[:] = 1.0
places = random.integers(0, table.size, 200_000)
out = np.empty(places.size)
begin = said = time.monotonic()
done = 0
while time.monotonic() - begin < seconds:
    np.take(table, places, out=out, mode="clip")
    done += 1
    if time.monotonic() - said > 0.5:
        said = time.monotonic()
        print("done", done, flush=True)
print("done", done)
