-- queries/undo/delete.sql
delete from dream.undo where run_id = any ($1)
