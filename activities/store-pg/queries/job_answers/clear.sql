-- queries/job_answers/clear.sql
update dream.job_answer set body = null where run_id = $1
