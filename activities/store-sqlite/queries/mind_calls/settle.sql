-- queries/mind_calls/settle.sql
update dream_mind_call
   set outcome = $3, tokens_input = $4, tokens_output = $5, problem = $6
 where run_id = $1
   and call = $2
