-- queries/facts/delete.sql
delete from dream.fact where id = any ($2) and space_id = $1
