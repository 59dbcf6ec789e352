-- queries/actions/delete.sql
delete from dream_action where id in (select value from json_each(?2)) and space_id = ?1
