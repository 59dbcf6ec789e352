-- queries/touched/insert_of_graph.sql
-- Rows of the graph that ops touched, whichever run they are of. Some of them the ops touched here as well.
insert into dream.touched (table_name, row_id, run_id, seq)
select x.table_name, x.row_id, o.run_id, o.seq
  from unnest($1::uuid[], $2::text[], $3::uuid[]) as x (op_id, table_name, row_id)
  join dream.op o on o.op_id = x.op_id
on conflict do nothing
