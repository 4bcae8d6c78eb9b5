-- cause slower-function: a function takes more CPU time
-- layer: code
-- page: profiles
-- needs: thread_time sample
-- against: yes
-- yields: all cpu-frequency long-instruction memory-bound more-calls numa slower-calls
-- says: {subject:fn} takes {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: most of it is on the path {way:path}
-- check: twinscope flame SLOW.twin --against FAST.twin -o differs.html
-- try: check whether it is called more often or does more per call: its callers and its input, then its source
-- see: https://www.brendangregg.com/blog/2014-11-09/differential-flame-graphs.html
-- tail: running
-- tail-says: slow requests run {more:s} longer on a CPU, in thread {thread}
-- claims:
select focus as subject, cell,
       ramp(sum(share) over w, 0.02, 0.04) * ramp(sum(samples) over w, 10, 30)
       * grown(sum(slow) over w, sum(against) over w, 1.05, 1.15) as part
from budget where state in ('user', 'kernel') and aside = 0 and focus is not null and fresh = 0
window w as (partition by focus)
-- tells:
select c.subject, b.path as way, max(b.slow - b.against)
from claimed c join budget b on b.cell = c.cell group by c.subject
-- test claims: a function that takes longer
-- budget* state=user focus=sort slow=5 against=2
-- budget state=user focus=parse slow=1 against=1
-- says '`sort()` takes 5 s of CPU time per operation (baseline 2 s)'
-- test refuses: by as little as runs differ
-- budget state=user focus=sort slow=2.1 against=2
-- test refuses: code that is new
-- budget state=user focus=sort fresh=1 slow=5
