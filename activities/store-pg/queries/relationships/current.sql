-- queries/relationships/current.sql
-- Rows as they stand, not locked: whoever asks does not write them.
select id, source_entity_id, target_entity_id, relationship_type, description, properties::text as properties,
       source_document_ids, source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at, invalidated_by, confidence, weight,
       metadata::text as metadata, created_at, updated_at
  from relationships
 where id = any ($2) and namespace_id = $1
 order by id
