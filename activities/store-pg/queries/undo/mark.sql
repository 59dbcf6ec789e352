-- queries/undo/mark.sql
update dream.undo set undone_at = $2 where op_id = any ($1)
