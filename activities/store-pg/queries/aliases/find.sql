-- queries/aliases/find.sql
select absorbed_id as id, name, entity_type, canonical_id, mention_count_seen, absorbed_by
  from dream.alias
 where absorbed_id = $1
