-- queries/journal/delete.sql
delete from dream.journal where id = any ($2) and space_id = $1
