-- cause slower-function: a function takes more CPU time
-- layer: code
-- page: profiles
-- needs: thread_time sample
-- specific: 2
-- against: yes
-- says: {subject:fn} takes {slow:s} of CPU time per unit of work (baseline {against:s})
-- evidence: mostly called through {way:path}
-- check: twinscope flame SLOW.twin --against FAST.twin -o differs.html
-- try: check whether it is called more often or does more per call: its callers and its input, then its source
-- see: https://www.brendangregg.com/blog/2014-11-09/differential-flame-graphs.html
with own as materialized (
    select cell, slow, against, samples, share, path, focus as subject from budget where state in ('user', 'kernel')
        and aside = 0 and focus is not null and fresh = 0
),
named as materialized (select subject, sum(slow) as slow, sum(against) as against, sum(samples) as samples,
    sum(share) as share from own group by subject),
grown as materialized (select * from named where share > 0.03 and slow > 1.1 * against and samples >= 20),
way as materialized (select subject, path, row_number() over (partition by subject
    order by slow - against desc) as place from own)
select o.subject, o.cell, 1.0 as part, g.slow, g.against, w.path as way
from own o join grown g on g.subject = o.subject left join way w on w.subject = o.subject and w.place = 1
-- test claims: a function that takes longer
-- budget* state=user focus=sort slow=5 against=2
-- budget state=user focus=parse slow=1 against=1
-- says '`sort()` takes 5 s of CPU time per operation (baseline 2 s)'
-- test refuses: by as little as runs differ
-- budget state=user focus=sort slow=2.1 against=2
-- test refuses: code that is new
-- budget state=user focus=sort fresh=1 slow=5
