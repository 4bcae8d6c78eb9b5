import sys

import jinja2

template = jinja2.Environment().from_string(
    "<table>{% for row in rows %}<tr class='{{ loop.cycle('odd', 'even') }}'><td>{{ row.name|title }}</td>"
    "<td>{{ '%.2f'|format(row.price) }}</td></tr>{% endfor %}</table>"
)
rows = [{"name": f"article number {number}", "price": number * 1.07} for number in range(1000)]
total = 0
for _ in range(int(sys.argv[1])):
    total += len(template.render(rows=rows))
print(total)
