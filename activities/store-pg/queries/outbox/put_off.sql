-- queries/outbox/put_off.sql
-- A failed attempt is counted; without a time the rows are set aside.
update dream.outbox
   set attempts = attempts + 1, reason = $3, next_at = $4,
       state = case when $4::timestamptz is null then 'parked' else 'open' end
 where id = any ($2)
   and namespace_id = $1
   and state = 'open'
