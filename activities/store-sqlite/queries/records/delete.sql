-- queries/records/delete.sql
delete from dream_record where id in (select value from json_each(?2)) and space_id = ?1
