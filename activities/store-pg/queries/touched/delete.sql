-- queries/touched/delete.sql
delete from dream.touched where run_id = any ($1)
