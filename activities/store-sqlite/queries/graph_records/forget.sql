-- queries/graph_records/forget.sql
-- What was kept for a batch that did not happen.
delete from dream_graph_record
 where (op_id, direction) in (select op_id, direction from dream_outbox where batch = ?2 and +namespace_id = ?1)
