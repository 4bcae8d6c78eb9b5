-- cause frontend: the CPU waits for instructions
-- layer: code
-- needs: thread_time topdown
-- specific: 3
-- says: the CPU waits for instructions: {subject}
-- check: perf stat --topdown
-- try: smaller hot code: PGO, BOLT, huge pages for code, less inlining
-- see: Yasin, A Top-Down method for performance analysis, ISPASS 2014
select 'front end' as subject, b.cell, l.part as part
from budget b, topdown l where b.state = 'user' and l.cause = 'frontend' and b.function is l.function
