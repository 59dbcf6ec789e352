-- queries/undo/replace.sql
update dream.undo set record = $2 where op_id = $1
