-- queries/chunks/existing.sql
select id, namespace_id = $2 as is_here from chunks where id = any ($1)
