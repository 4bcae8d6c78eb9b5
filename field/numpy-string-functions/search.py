import sys
import numpy as np

words = np.array([f"user{i * 7919 % 1_000_003}@host{i % 77}.example.org" for i in range(200_000)])
found = 0
for _ in range(int(sys.argv[1])):
    found += int(np.char.startswith(words, "user9").sum())
    found += int((np.char.find(words, "host7") >= 0).sum())
    found += int(np.char.str_len(words).max())
    found += len(np.unique(words))
print(found, "found")
