-- queries/aliases/list.sql
select absorbed_id, canonical_id from dream_alias where namespace_id = ?1
