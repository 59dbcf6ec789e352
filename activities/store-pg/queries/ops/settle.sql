-- queries/ops/settle.sql
-- What became of the ops, and when. One that is taken back keeps the numbers of what it did.
update dream.op o
   set state = x.state, reason = x.reason, numbers = coalesce(x.numbers, o.numbers), applied_at = $6
  from unnest($2::integer[], $3::text[], $4::text[], $5::text[]) as x (seq, state, reason, numbers)
 where o.run_id = $1 and o.seq = x.seq
