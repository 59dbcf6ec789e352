-- queries/undo/history.sql
select u.run_id, u.op_id, u.applied_at, u.record
  from dream.touched t
  join dream.op o on o.run_id = t.run_id and o.seq = t.seq
  join dream.undo u on u.op_id = o.op_id
 where t.table_name = $1 and t.row_id = $2 and u.undone_at is null
 order by u.id desc   -- records are written in the order in which ops were applied
 limit $3
