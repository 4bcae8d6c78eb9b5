-- cause set-up: the machines are configured differently
-- layer: code
-- page: set-up
-- specific: 1
-- against: yes
-- says: {subject} differs: {slow} (baseline {against}). {why}
-- check: twinscope compare FAST.twin SLOW.twin lists every property that differs
-- try: make them equal and record again
select name as subject, null as cell, null as part, slow, against, why from fact_change where why is not null
