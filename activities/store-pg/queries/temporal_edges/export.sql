-- queries/temporal_edges/export.sql
select id, source_entity_id, target_entity_id, relationship_type, is_valid
  from temporal_edges
 where namespace_id = $1
 order by id
