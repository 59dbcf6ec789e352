-- queries/runs/set_state.sql
update dream.run
   set state = $2, waiting_for = $3, review_until = coalesce($4, review_until), heartbeat_at = $5
 where run_id = $1 and finished_at is null
