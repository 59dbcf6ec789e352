-- queries/runs/heartbeat.sql
update dream.run set heartbeat_at = $2 where run_id = $1
