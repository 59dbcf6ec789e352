-- queries/relationships/find.sql
select id, source_entity_id, target_entity_id, relationship_type, description, properties::text as properties,
       source_document_ids, source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at, invalidated_by, confidence, weight,
       metadata::text as metadata, created_at, updated_at
  from relationships
 where id = $1
