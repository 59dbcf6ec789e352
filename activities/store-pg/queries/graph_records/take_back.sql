-- queries/graph_records/take_back.sql
-- Of an op that a batch took back nothing is left to take back; how the graph was left stays.
delete from dream.graph_record g
 using dream.outbox o
 where o.batch = $2
   and o.namespace_id = $1
   and o.direction = 'undo'
   and g.op_id = o.op_id
   and g.direction = 'apply'
