-- queries/graph_records/list.sql
-- What was kept of ops as they were carried out.
select op_id, record
  from dream_graph_record
 where op_id in (select value from json_each(?1))
   and direction = 'apply'
