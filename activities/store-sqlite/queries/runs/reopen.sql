-- queries/runs/reopen.sql
-- A run that ended before its plan was done goes on; what stopped it is asked no more.
update dream_run
   set state = 'planning', waiting_for = null, finished_at = null, error_code = null
 where run_id = ?1 and state in ('failed', 'cancelled', 'abandoned')
