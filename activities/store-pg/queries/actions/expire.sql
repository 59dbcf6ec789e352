-- queries/actions/expire.sql
update dream.action
   set status = 'expired', updated_at = $2
 where space_id = $1 and status in ('pending', 'approved') and expires_at <= $2
