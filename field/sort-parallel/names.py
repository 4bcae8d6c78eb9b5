"""Writes names of package files to sort, the same ones each time."""
import random

random.seed(3)
words = ["".join(random.choices("abcdefghijklmno", k=random.randint(3, 8))) for _ in range(60)]
for _ in range(400000):
    version = ".".join(str(random.randint(0, 30)) for _ in range(random.randint(2, 4)))
    print(f"lib{random.choice(words)}-{random.choice(words)}_{version}-{random.randint(1, 12)}_amd64.deb")
