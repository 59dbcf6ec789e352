-- queries/profiles/delete.sql
delete from dream_profile where space_id in (select value from json_each(?2)) and space_id = ?1
