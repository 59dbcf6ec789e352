-- queries/temporal_edges/load.sql
select id, source_entity_id, target_entity_id, relationship_type, is_valid
  from temporal_edges
 where id in (select value from json_each(?2)) and +namespace_id = ?1   -- by key, not by namespace
 order by id
