-- queries/mind_calls/spent_of_day.sql
-- What nobody said it took counts as what was reserved for it.
select count(*) as calls,
       coalesce(sum(coalesce(tokens_input + tokens_output, tokens_reserved)), 0) as tokens
  from dream_mind_call
 where space_id = $1
   and day = $2
