"""Makes invoices of orders: prices lines, adds taxes by country, writes the invoice as text and seals it."""

import hashlib
import json
import os
import sys
import tracemalloc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

RATES = {"CH": 81, "DE": 190, "FR": 200, "AT": 200, "IT": 220}


class Line:
    def __init__(self, article, count, cents):
        self.article = article
        self.count = count
        self.cents = cents

    def total(self):
        return self.count * self.cents


def order(number):
    """An order as the shop sends it."""
    lines = [{"article": f"A-{(number * 31 + n) % 9000}", "count": 1 + n % 4, "cents": 199 + (number + n) * 17 % 20_000} for n in range(25)]
    return json.dumps({"number": number, "country": list(RATES)[number % len(RATES)], "lines": lines})


def invoice(text):
    data = json.loads(text)
    lines = [Line(line["article"], line["count"], line["cents"]) for line in data["lines"]]
    net = sum(line.total() for line in lines)
    tax = net * RATES[data["country"]] // 1000
    by_count = {}
    for line in lines:
        by_count.setdefault(line.count, []).append((line.article, line.total()))
    rows = [f"{line.article:12} {line.count:3} x {line.cents / 100:10.2f} {line.total() / 100:12.2f}" for line in lines]
    rows.append(f"{'net':30} {net / 100:12.2f}")
    rows.append(f"{'tax':30} {tax / 100:12.2f}")
    return "\n".join(rows), {count: sum(total for _, total in part) for count, part in by_count.items()}


frame.begin()
frame.EVERY = 0.1
if frame.SLOW:
    tracemalloc.start()
number = 0
ledger = {}


def request(_index):
    global number
    number += 1
    text, totals = invoice(order(number))
    seal = hashlib.pbkdf2_hmac("sha256", text.encode(), b"key of the shop", 150)
    ledger[number % 5000] = (seal, totals)


frame.run(1, request)
frame.lost_share(1)
