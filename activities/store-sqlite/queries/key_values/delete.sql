-- queries/key_values/delete.sql
delete from dream_key_value where id in (select value from json_each(?2)) and space_id = ?1
