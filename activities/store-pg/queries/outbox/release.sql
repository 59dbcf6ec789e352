-- queries/outbox/release.sql
-- Rows that were set aside are tried again as if for the first time.
update dream.outbox
   set state = 'open', attempts = 0, next_at = null, reason = null
 where namespace_id = $1
   and state = 'parked'
   and ($2::bigint[] is null or id = any ($2))
