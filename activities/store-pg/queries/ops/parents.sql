-- queries/ops/parents.sql
select content_key, state
  from dream.op
 where run_id = $1 and content_key = any ($2)
