-- queries/entities/namespace.sql
select namespace_id from entities where id = ?1
