-- cause smt: two busy threads share a core
-- layer: code
-- needs: thread_time pmu_smt
-- specific: 3
-- says: two busy threads share a core: {subject}
-- check: lscpu -e; mpstat -P ALL 1: are both CPUs of a core busy?
-- try: run on cores of their own: taskset, cpuset, nosmt
-- see: Documentation/admin-guide/hw-vuln/core-scheduling.rst
select 'SMT siblings' as subject, b.cell, l.part as part
from budget b, pmu_smt l where b.state = 'user' and l.cause = 'smt' and b.function is l.function
