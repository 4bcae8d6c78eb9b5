-- cause backend: the CPU waits for data
-- layer: code
-- needs: thread_time topdown
-- specific: 3
-- says: the CPU waits for data: {subject}
-- check: perf stat --topdown
-- try: smaller or better ordered data, prefetching, huge pages
-- see: Yasin, A Top-Down method for performance analysis, ISPASS 2014
select 'back end' as subject, b.cell, l.part as part
from budget b, topdown l where b.state = 'user' and l.cause = 'backend' and b.function is l.function
