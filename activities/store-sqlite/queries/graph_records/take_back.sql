-- queries/graph_records/take_back.sql
-- Of an op that a batch took back nothing is left to take back; how the graph was left stays.
delete from dream_graph_record
 where op_id in (select op_id from dream_outbox where batch = ?2 and direction = 'undo' and +namespace_id = ?1)
   and direction = 'apply'
