-- queries/mind_calls/reject.sql
update dream.mind_call
   set outcome = $3, problem = $4
 where run_id = $1
   and call = $2
