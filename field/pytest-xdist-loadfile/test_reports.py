import json
import random

import pytest


@pytest.mark.parametrize("seed", range(40))
def test_totals_survive_a_round_trip(seed):
    numbers = random.Random(seed)
    orders = [{"id": number, "price": numbers.randint(1, 10**6), "tags": ["a", "b"] * 3} for number in range(2000)]
    for _ in range(20):
        orders = json.loads(json.dumps(sorted(orders, key=lambda order: order["price"])))
    assert sum(order["price"] for order in orders) > 0
