-- queries/graph_records/list.sql
-- What was kept of ops as they were carried out.
select op_id, record from dream.graph_record where op_id = any ($1) and direction = 'apply'
