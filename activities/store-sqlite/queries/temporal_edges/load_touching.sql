-- queries/temporal_edges/load_touching.sql
select id, source_entity_id, target_entity_id, relationship_type, is_valid
  from temporal_edges
 where +namespace_id = ?1   -- by its ends, not by namespace
   and (source_entity_id in (select value from json_each(?2)) or target_entity_id in (select value from json_each(?2)))
 order by id
