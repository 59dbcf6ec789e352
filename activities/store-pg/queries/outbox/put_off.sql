-- queries/outbox/put_off.sql
-- A failed attempt is counted, except where the server was away, which is no fault of a row; without a time the rows are
-- set aside.
update dream.outbox
   set attempts = attempts + case when $3 = 'graph_unavailable' then 0 else 1 end, reason = $3, next_at = $4,
       state = case when $4::timestamptz is null then 'parked' else 'open' end
 where id = any ($2)
   and namespace_id = $1
   and state = 'open'
