import sys, time
import sqlglot

seconds = float(sys.argv[1])
queries = [
    "select a.id, count(*) as n, sum(b.price * b.amount) from orders a join lines b on a.id = b.order_id"
    f" where a.day between '2020-01-01' and '2020-0{i + 1}-01' and (a.kind in (1, 2, {i}) or b.note like '%x{i}%')"
    " group by a.id having count(*) > 3 order by 2 desc limit 20"
    for i in range(9)
]
begin = said = time.monotonic()
done = 0
while time.monotonic() - begin < seconds:
    for query in queries:
        sqlglot.transpile(query, read="postgres", write="spark")
        done += 1
    if time.monotonic() - said > 0.5:
        said = time.monotonic()
        print("done", done, flush=True)
print("done", done)
