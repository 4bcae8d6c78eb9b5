-- cause set-up: the machines are configured differently
-- layer: code
-- page: set-up
-- against: yes
-- yields: all
-- says: {subject} differs: {slow} (baseline {against}). {why}
-- check: twinscope compare FAST.twin SLOW.twin lists every property that differs
-- try: make them equal and record again
-- claims:
select name as subject, null as cell, null as part from fact_change where why is not null
-- tells:
select name as subject, slow, against, why from fact_change where why is not null
-- test claims: a setting that matters
-- fact_change name=vm.swappiness slow='60' against='10' why='it decides what is swapped out.'
-- says 'vm.swappiness differs: 60 (baseline 10). it decides what is swapped out.'
-- test refuses: one of which that is not known
-- fact_change name=kernel.hostname slow=a against=b
