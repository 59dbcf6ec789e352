-- queries/graph_records/behind.sql
-- What was kept when the graph was told, in the order of the queue.
select o.id, g.record
  from dream_graph_record g
  join dream_outbox o on o.op_id = g.op_id and o.direction = g.direction
 where g.namespace_id = ?1 and o.namespace_id = ?1 and o.id > ?2
 order by o.id
 limit ?3
