-- queries/outbox/drop.sql
-- Rows that were set aside are given up. How often they were tried and why they failed stays to be read.
-- The first condition on the state is that of the index, word for word.
update dream_outbox
   set state = 'dropped'
 where namespace_id = ?1
   and state in ('open', 'parked')
   and state = 'parked'
   and (?2 is null or id in (select value from json_each(?2)))
