-- queries/undo/find.sql
-- The ops to take back, newest first, with their records.
select o.seq, o.draft, o.state, o.reason, u.record
  from dream.op o
  left join dream.undo u on u.op_id = o.op_id
 where o.run_id = $1 and o.op_id = any ($2)
 order by o.seq desc
   for update of o
