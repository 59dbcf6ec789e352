-- queries/outbox/drop.sql
-- Rows that were set aside are given up. How often they were tried and why they failed stays to be read.
update dream.outbox
   set state = 'dropped'
 where namespace_id = $1
   and state = 'parked'
   and ($2::bigint[] is null or id = any ($2))
