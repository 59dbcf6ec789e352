-- queries/runs/heartbeat.sql
update dream_run set heartbeat_at = ?2 where run_id = ?1
