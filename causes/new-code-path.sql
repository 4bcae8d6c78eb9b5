-- cause new-code-path: code runs that the baseline does not, or hardly, run
-- layer: code
-- page: profiles
-- needs: thread_time sample
-- against: yes
-- yields: all cpu-frequency numa
-- says: {subject:fn} takes {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: most of it in {inner:fn}
-- check: twinscope flame SLOW.twin --against FAST.twin -o differs.html
-- try: check its callers: a feature, check, log level or fallback that is enabled in one run only
-- see: https://www.brendangregg.com/blog/2014-11-09/differential-flame-graphs.html
-- claims:
select focus as subject, cell, ramp(sum(share) over w, 0.02, 0.04) * ramp(sum(samples) over w, 10, 30) as part
from budget where state in ('user', 'kernel') and aside = 0 and focus is not null and fresh = 1
window w as (partition by focus)
-- tells:
select c.subject, b.function as inner, max(b.slow - b.against)
from claimed c join budget b on b.cell = c.cell group by c.subject
-- test claims: a check that the other run does not make
-- budget* state=user focus=check fresh=1 function=hash slow=5
-- budget state=user focus=work slow=1 against=1
-- says '`check()` takes 5 s of CPU time per operation (baseline 0 s)'
-- test refuses: too few samples to tell
-- budget state=user focus=check fresh=1 function=hash slow=5 samples=5
-- test refuses: code that both run
-- budget state=user focus=check function=hash slow=5 against=1
