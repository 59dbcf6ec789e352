-- queries/relationships/load.sql
select id, source_entity_id, target_entity_id, relationship_type, description, properties, source_document_ids,
       source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at, invalidated_by, confidence, weight, metadata,
       created_at, updated_at
  from relationships
 where id in (select value from json_each(?2)) and +namespace_id = ?1   -- by key, not by namespace
 order by id
