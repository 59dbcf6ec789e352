-- queries/mind_calls/spent_of_run.sql
-- What nobody said it took counts as what was reserved for it.
select count(*) as calls,
       cast(coalesce(sum(coalesce(tokens_input + tokens_output, tokens_reserved)), 0) as bigint) as tokens
  from dream.mind_call
 where run_id = $1
