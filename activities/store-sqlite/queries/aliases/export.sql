-- queries/aliases/export.sql
select absorbed_id as id, name, entity_type, canonical_id, mention_count_seen, absorbed_by
  from dream_alias
 where namespace_id = ?1
 order by absorbed_id
