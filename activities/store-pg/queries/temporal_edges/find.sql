-- queries/temporal_edges/find.sql
select id, source_entity_id, target_entity_id, relationship_type, is_valid
  from temporal_edges
 where id = $1
