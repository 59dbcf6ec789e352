-- queries/runs/checkpoint.sql
update dream.run set last_committed_seq = $2 where run_id = $1
