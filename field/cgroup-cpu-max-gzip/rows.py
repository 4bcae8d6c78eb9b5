"""Writes rows of a table, the same ones each time."""
import random

random.seed(9)
for number in range(350000):
    print(f"{number},{random.choice(['open', 'paid', 'sent'])},{random.gauss(100, 25):.2f},customer {random.randint(1, 5000)}")
