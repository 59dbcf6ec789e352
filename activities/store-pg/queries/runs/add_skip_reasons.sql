-- queries/runs/add_skip_reasons.sql
update dream.run set skip_reasons = $2 where run_id = $1
