-- queries/runs/delete.sql
delete from dream_run where run_id in (select value from json_each(?1))
