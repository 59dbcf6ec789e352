-- queries/mind_calls/list.sql
select call, model, outcome, tokens_reserved, tokens_input, tokens_output, times_reused, problem
  from dream_mind_call
 where run_id = $1
 order by call
