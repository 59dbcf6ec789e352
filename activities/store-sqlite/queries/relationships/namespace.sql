-- queries/relationships/namespace.sql
select namespace_id from relationships where id = ?1
