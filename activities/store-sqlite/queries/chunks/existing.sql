-- queries/chunks/existing.sql
select id, namespace_id = ?2 as is_here from chunks where id in (select value from json_each(?1))
