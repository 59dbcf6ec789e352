-- queries/outbox/hurry.sql
-- Rows that were put off are due at once. How often they were tried and why they failed stays. The first condition on the
-- state is that of the index, word for word.
update dream_outbox
   set next_at = null
 where state in ('open', 'parked')
   and state = 'open'
   and next_at is not null
