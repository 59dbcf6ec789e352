-- queries/ops/of_row.sql
-- The ops on a space that touched a row, in the order in which they were applied, with what undo needs of them.
select o.op_id, o.state, o.draft, u.record
  from dream.touched t
  join dream.run r on r.run_id = t.run_id and r.realm = 'space' and r.namespace_id = $1
  join dream.op o on o.run_id = t.run_id and o.seq = t.seq
  left join dream.undo u on u.op_id = o.op_id
 where t.table_name = $2 and t.row_id = $3
 order by u.id nulls first
