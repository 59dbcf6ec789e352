-- queries/entities/existing.sql
select id, namespace_id = $2 as is_here from entities where id = any ($1)
