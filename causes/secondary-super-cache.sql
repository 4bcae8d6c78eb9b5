-- cause secondary-super-cache: checks against interfaces write the class's cache again and again (JDK-8180450)
-- layer: jvm
-- page: sharing profiles
-- needs: thread_time sample sharing_access sharing_look
-- before: true-sharing false-sharing long-instruction slower-calls
-- says: {subject} is checked against several interfaces in turn, in {function:fn}: each check searches the list of its
--   interfaces and writes the word that remembers the last one (JDK-8180450)
-- evidence: sampled: waiting for the line of that word takes {whole:%} of the CPU time of {comm}
-- evidence: {note}
-- check: twinscope sharing SLOW.twin; a JDK with the fix: java -version
-- try: JDK 23 or newer (21.0.8 has it, too); check against classes instead of interfaces, or against the same interface
--   in a row; ask once and keep the answer
-- see: https://bugs.openjdk.org/browse/JDK-8180450
-- see: docs/sharing.md
-- claims:
-- The word is written where the last check was against another interface; whoever does that pays for the search as well.
with cpu as materialized (
    select comm, sum(slow) as slow, sum(against) as against from budget
    where state in ('user', 'kernel') and aside = 0 group by comm
),
-- Seconds per unit of work that a function waits for the word, on either side: the baseline may fight over it, too.
checked as materialized (
    select s.thing, s.function, s.comm, max(s.whole) as whole, sum(s.slow_part * c.slow) as slow,
           sum(s.against_part * c.against) as against
    from sharing s join cpu c on c.comm = s.comm
    where s.fields glob '*Klass::_secondary_super_cache*' and s.note glob '*JDK-8180450*' group by 1, 2, 3
)
select c.thing as subject, b.cell, ramp(c.whole, 0.02, 0.06) as part
from checked c join budget b on b.function = c.function and b.comm = c.comm
where b.state = 'user' and b.aside = 0 and b.slow > b.against and c.slow > c.against * 1.5
-- tells:
select s.thing as subject, s.function, s.comm, 100 * s.whole as whole, s.note
from (select *, row_number() over (partition by thing order by slow_part desc) as place from sharing
      where fields glob '*Klass::_secondary_super_cache*') s
where s.place = 1 and s.thing in (select subject from claimed)
-- test claims: a class that two interfaces are asked of
-- budget* state=user function=check comm=java slow=10 against=1
-- budget state=user function=parse comm=java slow=2 against=1
-- sharing kind=true thing=Order fields=Klass::_secondary_super_cache comm=java function=check slow_part=0.3 against_part=0 whole=0.3 note='JDK-8180450: each'
-- says 'Order is checked against several interfaces in turn, in `check()`'
-- test refuses: another field of a class
-- budget state=user function=check comm=java slow=10 against=1
-- sharing kind=true thing=Order fields=Order.count comm=java function=check slow_part=0.3 against_part=0 whole=0.3
-- test refuses: it was so before
-- budget state=user function=check comm=java slow=10 against=8
-- sharing kind=true thing=Order fields=Klass::_secondary_super_cache comm=java function=check slow_part=0.3 against_part=0.3 whole=0.3 note='JDK-8180450: each'
