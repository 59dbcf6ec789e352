-- queries/touched/delete.sql
delete from dream_touched where run_id in (select value from json_each(?1))
