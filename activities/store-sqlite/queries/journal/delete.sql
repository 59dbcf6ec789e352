-- queries/journal/delete.sql
delete from dream_journal where id in (select value from json_each(?2)) and space_id = ?1
