-- queries/pg/settle.sql
update dream.op o
   set state = x.state, reason = x.reason, numbers = x.numbers, applied_at = x.applied_at
  from unnest($2, $3, $4, $5, $6) as x (seq, state, reason, numbers, applied_at)
 where o.run_id = $1 and o.seq = x.seq
