-- view missing: what could not be read, and what would change that
-- run: the run
-- source: the source
-- item: the part; empty for the source as a whole
-- status: absent, denied, not applicable or failed; estimated where it was read in a part of the time and scaled up
-- why: why it was not read
-- remedy: what would change it
select run, source, item, status, why, remedy
from coverage
where status <> 'read'
