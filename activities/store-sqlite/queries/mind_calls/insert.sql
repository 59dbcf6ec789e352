-- queries/mind_calls/insert.sql
insert into dream_mind_call (run_id, call, space_id, day, model, outcome, tokens_reserved, times_reused, called_at)
select $1, coalesce(max(c.call), 0) + 1, $2, $3, $4, $5, $6, 0, $7
  from dream_mind_call c
 where c.run_id = $1
returning call
