#!/usr/bin/env python3
"""Recordings for agents: how fast `twinscope mcp` starts and answers, and whether a scripted client gets to the cause of kept pairs.

usage: scripts/bench/agents.py [--twinscope PATH] [--pairs 10] [--rounds 5]

The client does what an agent would: lists the recordings, asks `explain`, reads the first cause, and runs its query. All that
the server sends counts, the description of its tools included. The pairs are those of fixtures/explain that rules were made
by, for what is measured is the way to the answer, and not how often `explain` is right; unpacked by zstd. With
the Python package `mcp` (the official SDK) it then calls every tool through that; without, it says that this was left out.

Prints lines "what<TAB>metric<TAB>unit<TAB>value".
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures/explain"


def say(*words):
    print(*words, sep="\t", flush=True)


class Server:
    """A server with a client of the protocol as of 2025-11-25, in lines of JSON."""

    def __init__(self, twinscope, folder):
        self.began = time.monotonic()
        self.process = subprocess.Popen([twinscope, "mcp", "--dir", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.bytes = self.calls = self.number = 0
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", about)
        self.started = time.monotonic() - self.began
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("bench: the server ended")
            self.bytes += len(line)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer["result"]

    def call(self, tool, **arguments):
        self.calls += 1
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            sys.exit(f"bench: {tool}: {answer['content'][0]['text']}")
        return answer["structuredContent"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def unpack(pair, into):
    """The recordings of a pair, as fixtures/explain/ORIGIN.md says."""
    common = into / "common"
    if not common.exists():
        subprocess.run(["zstd", "-dqf", FIXTURES / "common.zst", "-o", common], check=True)
    folder = into / pair
    folder.mkdir()
    packed = FIXTURES / pair / "runs.tar.zst"
    subprocess.run(["zstd", "-dqf", "--long=27", f"--patch-from={common}", packed, "-o", folder / "runs.tar"], check=True)
    with tarfile.open(folder / "runs.tar") as archive:
        archive.extractall(folder, filter="data")
    (folder / "runs.tar").unlink()


def chosen(number):
    """Pairs of as many different causes as there are, by name."""
    found, seen = [], set()
    for path in sorted(FIXTURES.glob("*/expected.json")):
        expected = json.loads(path.read_text())
        first = next(iter(expected["causes"]), None)
        if first and first not in seen and expected["set"] == "tuned" and not expected.get("tail"):
            seen.add(first)
            found.append((path.parent.name, expected["causes"]))
    return found[:number]


def cause(twinscope, folder, pair):
    """What a client comes to: the cause, the calls and the bytes it took."""
    server = Server(twinscope, folder)
    server.ask("tools/list", {})
    there = {one["recording"] for one in server.call("recordings", matching=f"{pair}/")["recordings"]}
    slow, fast = f"{pair}/slow.twin", f"{pair}/fast.twin"
    assert {slow, fast} <= there, there
    answer = server.call("explain", slow=[slow], against=[fast])
    name = answer["findings"][0]["cause"] if answer["findings"] else None
    if name:
        query = server.call("causes", cause=name)["query"]
        rows = server.call("sql", recordings=[slow], against=[fast], statement=query)["rows"]
        if not rows:
            name = None
    server.close()
    return name, server.calls, server.bytes


def seconds(command):
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def by_sdk(twinscope, folder, pair):
    """Calls every tool by the official SDK; the number of tools that answered, and how many there are."""
    import asyncio

    from mcp import Client, StdioServerParameters

    slow, fast = f"{pair}/slow.twin", f"{pair}/fast.twin"
    asked = {
        "recordings": {}, "explain": {"slow": [slow], "against": [fast]}, "compare": {"recordings": [fast, slow]},
        "schema": {"recordings": [slow]}, "sql": {"recordings": [slow], "statement": "select count(*) from thread_time"},
        "flame": {"recordings": [slow]}, "causes": {}, "facts": {"recordings": [fast, slow]},
        "fleet_bands": {"fleet": "fleet"}, "fleet_separates": {"fleet": "fleet"},
    }

    async def call_all():
        server = StdioServerParameters(command=os.path.abspath(twinscope), args=["mcp", "--dir", str(folder)])
        async with Client(server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answers = [await client.call_tool(name, asked[name]) for name in names]
            failed = [name for name, answer in zip(names, answers) if answer.is_error or not answer.structured_content]
            if failed:
                print(f"bench: by the SDK, no answer: {', '.join(failed)}", file=sys.stderr)
            return len(names) - len(failed), len(names)

    subprocess.run([twinscope, "fleet", "add", folder / "fleet", folder / pair], stdout=subprocess.DEVNULL, check=True)
    return asyncio.run(call_all())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--twinscope", default="target/release/twinscope")
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    pairs = chosen(asked.pairs)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for pair, _ in pairs:
            unpack(pair, work)
        right, calls, sent = 0, [], []
        for pair, causes in pairs:
            name, called, size = cause(asked.twinscope, work, pair)
            right += name in causes
            calls.append(called)
            sent.append(size)
            if name not in causes:
                print(f"bench: {pair}: {name} instead of {' or '.join(causes)}", file=sys.stderr)
        say(f"the cause of {len(pairs)} pairs", "named", "pairs", right)
        say(f"the cause of {len(pairs)} pairs", "calls, at most", "calls", max(calls))
        say(f"the cause of {len(pairs)} pairs", "sent, at most", "KB", f"{max(sent) / 1000:.1f}")
        say(f"the cause of {len(pairs)} pairs", "sent, median", "KB", f"{statistics.median(sent) / 1000:.1f}")
        pair = pairs[0][0]
        slow, fast = f"{pair}/slow.twin", f"{pair}/fast.twin"
        for _ in range(asked.rounds):
            server = Server(asked.twinscope, work)
            say("start", "until the client knows the server", "ms", f"{1000 * server.started:.1f}")
            began = time.monotonic()
            server.call("explain", slow=[slow], against=[fast])
            say("explain", "by the tool", "ms", f"{1000 * (time.monotonic() - began):.0f}")
            command = [asked.twinscope, "explain", work / slow, "--against", work / fast, "--markdown"]
            say("explain", "by the command", "ms", f"{1000 * seconds(command):.0f}")
            server.close()
        try:
            answered, tools = by_sdk(asked.twinscope, work, pair)
        except ImportError:
            print("bench: SKIPPED: the Python package mcp is not here: pip install mcp", file=sys.stderr)
        else:
            say("the official SDK for Python", "tools that answered", "tools", answered)
            say("the official SDK for Python", "tools", "tools", tools)


if __name__ == "__main__":
    main()
