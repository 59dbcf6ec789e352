-- queries/outbox/hurry.sql
-- Rows that were put off are due at once. How often they were tried and why they failed stays.
update dream.outbox
   set next_at = null
 where state = 'open'
   and next_at is not null
