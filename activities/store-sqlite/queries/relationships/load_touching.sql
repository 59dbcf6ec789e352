-- queries/relationships/load_touching.sql
select id, source_entity_id, target_entity_id, relationship_type, description, properties, source_document_ids,
       source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at, invalidated_by, confidence, weight, metadata,
       created_at, updated_at
  from relationships
 where +namespace_id = ?1   -- by its ends, not by namespace
   and invalidated_at is null
   and (source_entity_id in (select value from json_each(?2)) or target_entity_id in (select value from json_each(?2)))
 order by id
