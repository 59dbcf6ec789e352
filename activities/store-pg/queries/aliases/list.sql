-- queries/aliases/list.sql
select absorbed_id, canonical_id from dream.alias where namespace_id = $1
