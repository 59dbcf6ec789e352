-- queries/runs/set_plan.sql
update dream.run
   set plan_hash = $2, audit_hash = $3, ops_total = $4, heartbeat_at = $5, sealed_at = $5
 where run_id = $1
