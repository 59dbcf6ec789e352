-- queries/jobs/clear.sql
update dream.job set body = null where run_id = $1
