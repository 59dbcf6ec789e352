-- queries/relationships/existing.sql
select id, namespace_id = ?2 as is_here from relationships where id in (select value from json_each(?1))
