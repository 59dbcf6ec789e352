-- queries/records/delete.sql
delete from dream.record where id = any ($2) and space_id = $1
