"""Delivers messages into a folder as a mail server does: under a temporary name, then renamed."""
import os
import sys

folder, messages = sys.argv[1], int(sys.argv[2])
for number in range(messages):
    temporary = f"{folder}/tmp.{os.getpid()}.{number}"
    with open(temporary, "w") as file:
        file.write("hello\n")
    os.rename(temporary, f"{folder}/17000{number:08d}.M{number * 7919 % 999983}.host:2,S")
