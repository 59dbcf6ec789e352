-- queries/runs/append_round.sql
update dream_run
   set plan_hash = ?2, ops_total = ops_total + ?3, heartbeat_at = ?4,
       sealed_at = coalesce(sealed_at, ?4)
 where run_id = ?1
