-- queries/job_answers/clear_of_space.sql
update dream.job_answer
   set body = null
 where run_id in (select run_id from dream.run where realm = 'space' and namespace_id = $1)
