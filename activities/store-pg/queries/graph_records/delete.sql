-- queries/graph_records/delete.sql
delete from dream.graph_record where run_id = any ($1)
