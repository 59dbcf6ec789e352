-- queries/jobs/clear.sql
update dream_job set body = null where run_id = ?1
