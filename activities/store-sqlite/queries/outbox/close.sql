-- queries/outbox/close.sql
update dream_outbox
   set state = 'done', attempts = 0, next_at = null, reason = null, batch = null
 where batch = ?2
   and +namespace_id = ?1   -- by batch, not by namespace
returning coalesce(answer = 'missing', false) as is_missing
