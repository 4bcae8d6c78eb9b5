-- cause new-code-path: code runs that the baseline does not, or hardly, run
-- layer: code
-- page: profiles
-- needs: thread_time sample
-- specific: 2
-- against: yes
-- says: {subject:fn} takes {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: most of it in {inner:fn}
-- check: twinscope flame SLOW.twin --against FAST.twin -o differs.html
-- try: check its callers: a feature, check, log level or fallback that is enabled in one run only
-- see: https://www.brendangregg.com/blog/2014-11-09/differential-flame-graphs.html
with own as materialized (
    select cell, slow, against, samples, share, function, focus as subject from budget
        where state in ('user', 'kernel') and aside = 0 and focus is not null and fresh = 1
),
named as materialized (select subject, sum(slow) as slow, sum(against) as against, sum(samples) as samples,
    sum(share) as share from own group by subject),
fresh as materialized (select * from named where share > 0.03 and samples >= 20),
inner as materialized (select subject, function, row_number() over (partition by subject
    order by slow - against desc) as place from own)
select o.subject, o.cell, 1.0 as part, f.slow, f.against, i.function as inner
from own o join fresh f on f.subject = o.subject left join inner i on i.subject = o.subject and i.place = 1
-- test claims: a check that the other run does not make
-- budget* state=user focus=check fresh=1 function=hash slow=5
-- budget state=user focus=work slow=1 against=1
-- says '`check()` takes 5 s of CPU time per operation (baseline 0 s)'
-- test refuses: too few samples to tell
-- budget state=user focus=check fresh=1 function=hash slow=5 samples=5
-- test refuses: code that both run
-- budget state=user focus=check function=hash slow=5 against=1
