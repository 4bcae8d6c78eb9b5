-- cause true-sharing: threads write to the same data
-- layer: code
-- needs: thread_time cache_line
-- specific: 3
-- says: threads write to the same data: {subject}
-- check: perf c2c record; perf c2c report: lines with HITM and one offset
-- try: per-thread copies that are added up, sharding, fewer updates
-- see: https://docs.kernel.org/kernel-hacking/false-sharing.html
select coalesce(l.name, l.address) as subject, b.cell, l.part as part
from budget b, cache_line l where b.state = 'user' and l.cause = 'true-sharing' and b.function is l.function
