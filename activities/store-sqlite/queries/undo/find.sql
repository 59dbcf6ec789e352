-- queries/undo/find.sql
-- The ops to take back, newest first, with their records.
select o.seq, o.draft, o.state, o.reason, u.record
  from dream_op o
  left join dream_undo u on u.op_id = o.op_id
 where +o.run_id = ?1   -- by key, not by run
   and o.op_id in (select value from json_each(?2))
 order by o.seq desc
