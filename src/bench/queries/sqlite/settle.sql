-- queries/sqlite/settle.sql
update dream_op
   set state = d.state, reason = d.reason, numbers = d.numbers, applied_at = d.applied_at
  from done.dream_op d
 where dream_op.run_id = ?1 and d.run_id = ?1 and d.seq = dream_op.seq and d.applied_at is not null
