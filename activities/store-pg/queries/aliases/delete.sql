-- queries/aliases/delete.sql
delete from dream.alias where absorbed_id = any ($2) and namespace_id = $1
