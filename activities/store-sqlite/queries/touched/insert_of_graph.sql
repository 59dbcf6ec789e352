-- queries/touched/insert_of_graph.sql
-- Rows of the graph that ops touched, whichever run they are of. Some of them the ops touched here as well.
insert into dream_touched (table_name, row_id, run_id, seq)
select x.value ->> 't', x.value ->> 'r', o.run_id, o.seq
  from json_each(?1) x
 cross join dream_op o on o.op_id = x.value ->> 'o'
 where true
on conflict do nothing
