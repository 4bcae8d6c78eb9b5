"""Builds pages for a given time, each from eight parts."""
import os
import time

import httpx

ADDRESS = f"http://127.0.0.1:{os.environ['PORT']}/part/"


def build(client):
    for part in range(8):
        client.get(f"{ADDRESS}{part}").raise_for_status()


shared = httpx.Client()
end = time.monotonic() + int(os.environ["SECONDS_EACH"])
pages = 0
while time.monotonic() < end:
    if os.environ["CLIENT"] == "shared":
        build(shared)
    else:
        with httpx.Client() as client:
            build(client)
    pages += 1
print("done", pages)
