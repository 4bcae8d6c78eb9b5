import random

random.seed(7)
words = ["".join(random.choices("aeioulnrst", k=random.randint(2, 9))) for _ in range(800)]
print("<html><body><table>")
for row in range(900):
    cells = "".join(f"<td>{random.choice(words)} {random.choice(words)}</td>" for _ in range(4))
    print(f'<tr id="row-{row}">{cells}<td>{random.randint(0, 9999)}</td></tr>')
print("</table></body></html>")
