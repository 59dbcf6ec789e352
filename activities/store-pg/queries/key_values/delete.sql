-- queries/key_values/delete.sql
delete from dream.key_value where id = any ($2) and space_id = $1
