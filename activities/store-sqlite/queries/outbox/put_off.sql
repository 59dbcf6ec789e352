-- queries/outbox/put_off.sql
-- A failed attempt is counted, except where the server was away, which is no fault of a row; without a time the rows are
-- set aside.
update dream_outbox
   set attempts = attempts + case when ?3 = 'graph_unavailable' then 0 else 1 end, reason = ?3, next_at = ?4, state = iif(?4 is null, 'parked', 'open')
 where id in (select value from json_each(?2))
   and state = 'open'
   and +namespace_id = ?1   -- by key, not by namespace
