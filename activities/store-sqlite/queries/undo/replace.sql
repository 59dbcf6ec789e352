-- queries/undo/replace.sql
update dream_undo set record = ?2 where op_id = ?1
