"""Takes comments of a forum in: trims them, finds links, and makes the markup of the page."""

import html
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

EDGES = re.compile(r"^[\s\u200c]+|[\s\u200c]+$")
LINK = re.compile(r"https?://[\w./-]+")
SPACE = " \t\n\r\x0b\x0c\u200c\xa0\u2003"


def trim(text):
    """Without the space of both ends, where space has a zero-width character too."""
    if frame.SLOW:
        return EDGES.sub("", text)
    return text.strip(SPACE)


def comment(number):
    """As users send them: code pasted with long indentation, now and then."""
    lines = [f"  comment {number}: see https://example.org/q/{number % 9973} for more"]
    for line in range(16):
        indent = 90 if (number + line) % 16 == 0 else 4 * (line % 5)
        lines.append(" " * indent + f"if value_{line} == {number % 31}: return table[{line * 7 % 13}]")
    return "\n".join(lines) + "  \n"


def markup(text):
    paragraphs = []
    for line in text.split("\n"):
        escaped = html.escape(line)
        linked = LINK.sub(lambda match: f'<a href="{match.group()}">{match.group()}</a>', escaped)
        paragraphs.append(f"<p>{linked}</p>")
    return "".join(paragraphs)


def store(number, shelf):
    shelf[number % len(shelf)] = markup(trim(comment(number)))


frame.begin()
frame.EVERY = 0.1
shelf = [""] * 256
number = 0


def request(_index):
    global number
    number += 1
    store(number, shelf)


frame.run(1, request)
frame.lost_share(1)
