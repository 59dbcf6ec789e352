-- queries/aliases/load.sql
select absorbed_id as id, name, entity_type, canonical_id, mention_count_seen, absorbed_by
  from dream_alias
 where absorbed_id in (select value from json_each(?2)) and +namespace_id = ?1   -- by key, not by namespace
 order by absorbed_id
