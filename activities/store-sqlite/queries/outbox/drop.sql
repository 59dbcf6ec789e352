-- queries/outbox/drop.sql
-- Rows that were set aside are given up. How often they were tried and why they failed stays to be read.
update dream_outbox
   set state = 'dropped'
 where namespace_id = ?1
   and state in ('open', 'parked')
   and state = 'parked'
   and (?2 is null or id in (select value from json_each(?2)))
