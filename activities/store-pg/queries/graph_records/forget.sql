-- queries/graph_records/forget.sql
-- What was kept for a batch that did not happen.
delete from dream.graph_record g
 using dream.outbox o
 where o.batch = $2
   and o.namespace_id = $1
   and g.op_id = o.op_id
   and g.direction = o.direction
