import sys, time
import numpy as np

seconds = float(sys.argv[1])
signal = np.linspace(0.0, 1.0, 200_000)
begin = said = time.monotonic()
done = 0
while time.monotonic() - begin < seconds:
    for _ in range(50):
        smooth = (signal[:-2] + signal[1:-1] + signal[2:]) / 3.0
        rest = np.abs(signal[1:-1] - smooth)
        found = rest > 0.5
        done += 1
    if time.monotonic() - said > 0.5:
        said = time.monotonic()
        print("done", done, flush=True)
print("done", done)
