-- queries/mind_calls/reuse.sql
update dream_mind_call
   set times_reused = times_reused + 1
 where run_id = $1
   and call = $2
