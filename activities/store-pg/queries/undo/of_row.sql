-- queries/undo/of_row.sql
-- Every undo record that holds a row, taken back or not.
select u.op_id, u.record
  from dream.touched t
  join dream.op o on o.run_id = t.run_id and o.seq = t.seq
  join dream.undo u on u.op_id = o.op_id
 where t.table_name = $1 and t.row_id = $2
