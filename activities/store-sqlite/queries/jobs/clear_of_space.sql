-- queries/jobs/clear_of_space.sql
update dream_job
   set body = null
 where run_id in (select run_id from dream_run where realm = 'space' and namespace_id = ?1)
