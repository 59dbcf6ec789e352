-- queries/profiles/delete.sql
delete from dream.profile where space_id = any ($2) and space_id = $1
