-- queries/undo/mark.sql
update dream_undo set undone_at = ?2 where op_id in (select value from json_each(?1))
