-- queries/outbox/release.sql
-- Rows that were set aside are tried again as if for the first time. The first condition on the
-- state is that of the index, word for word.
update dream_outbox
   set state = 'open', attempts = 0, next_at = null, reason = null
 where namespace_id = ?1
   and state in ('open', 'parked')
   and state = 'parked'
   and (?2 is null or id in (select value from json_each(?2)))
