-- cause false-sharing: threads write to different data in one cache line
-- layer: code
-- needs: thread_time cache_line
-- specific: 3
-- says: threads write to different data in one cache line: {subject}
-- check: perf c2c record; perf c2c report: lines with HITM and several offsets
-- try: pad or align the data to 64 or 128 bytes, or give each thread its own copy
-- see: https://docs.kernel.org/kernel-hacking/false-sharing.html
select coalesce(l.name, l.address) as subject, b.cell, l.part as part
from budget b, cache_line l where b.state = 'user' and l.cause = 'false-sharing' and b.function is l.function
