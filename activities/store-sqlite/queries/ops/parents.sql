-- queries/ops/parents.sql
select content_key, state
  from dream_op
 where run_id = ?1 and content_key in (select value from json_each(?2))
