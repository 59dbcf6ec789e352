-- queries/ops/settle.sql
-- What became of the ops, and when. One that is taken back keeps the numbers of what it did.
update dream_op
   set state = x.value ->> 'state', reason = x.value ->> 'reason', numbers = coalesce(x.value ->> 'numbers', numbers),
       applied_at = case when x.value ->> 'state' = 'undone' then applied_at else ?3 end,
       undone_at = case when x.value ->> 'state' = 'undone' then ?3 end
  from json_each(?2) x
 where op_id = x.value ->> 'op_id'
   and +run_id = ?1   -- by key, not by run
