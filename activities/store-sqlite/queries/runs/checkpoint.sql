-- queries/runs/checkpoint.sql
update dream_run set last_committed_seq = ?2, heartbeat_at = ?3 where run_id = ?1
