-- queries/outbox/open.sql
-- The outer condition is that of the index, word for word.
select count(*) filter (where state = 'open') as rows, min(written_at) filter (where state = 'open') as oldest
  from dream_outbox
 where state in ('open', 'parked')
