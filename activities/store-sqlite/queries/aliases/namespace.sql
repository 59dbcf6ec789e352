-- queries/aliases/namespace.sql
select namespace_id from dream_alias where absorbed_id = ?1
