-- queries/ops/settle.sql
-- What became of the ops, and when. One that is taken back keeps the numbers of what it did.
update dream_op
   set state = x.value ->> 'state', reason = x.value ->> 'reason', numbers = coalesce(x.value ->> 'numbers', numbers),
       applied_at = ?3
  from json_each(?2) x
 where op_id = x.value ->> 'op_id'
   and +run_id = ?1   -- by key, not by run
