-- queries/graph_records/delete.sql
delete from dream_graph_record where run_id in (select value from json_each(?1))
