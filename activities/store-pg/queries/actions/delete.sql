-- queries/actions/delete.sql
delete from dream.action where id = any ($2) and space_id = $1
