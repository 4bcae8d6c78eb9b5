-- cause serial-phase: one thread works while the others wait for it
-- layer: scheduling
-- needs: thread_time running
-- specific: 5
-- says: one thread runs alone for {slow_serial:ratio} of the time, against {against_serial:ratio}
-- evidence: the others waited per unit of work: {slow:s}, against {against:s}
-- check: twinscope report: threads at once; twinscope flame SLOW.twin --window of the phase
-- try: divide that part among threads too, overlap it with the rest, or start it earlier
-- see: Amdahl, Validity of the single processor approach, 1967
with serial as materialized (select slow as slow_serial, coalesce(against, 0) as against_serial from measure where name = 'serial' and slow > 0.08 and slow > coalesce(against, 0) + 0.05)
select 'serial phase' as subject, b.cell, 1.0 as part, s.slow_serial, s.against_serial,
       (select slow from state where state = 'idle') as slow, (select against from state where state = 'idle') as against
from budget b, serial s where b.state in ('idle', 'fewer_threads') and b.share > 0
