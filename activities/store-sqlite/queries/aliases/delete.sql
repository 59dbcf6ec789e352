-- queries/aliases/delete.sql
delete from dream_alias where absorbed_id in (select value from json_each(?2)) and namespace_id = ?1
