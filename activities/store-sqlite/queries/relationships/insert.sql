-- queries/relationships/insert.sql
insert into relationships (id, namespace_id, source_entity_id, target_entity_id, relationship_type, description, properties,
                           source_document_ids, source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at,
                           invalidated_by, confidence, weight, metadata, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'source_entity_id', value ->> 'target_entity_id',
       coalesce(value ->> 'relationship_type', 'RELATES_TO'), coalesce(value ->> 'description', ''),
       coalesce(value ->> 'properties', '{}'), coalesce(value ->> 'source_document_ids', '[]'),
       coalesce(value ->> 'source_chunk_ids', '[]'), value ->> 'valid_from', value ->> 'valid_until',
       value ->> 'valid_to', value ->> 'invalidated_at', value ->> 'invalidated_by',
       coalesce(value ->> 'confidence', 1.0), coalesce(value ->> 'weight', 1.0), coalesce(value ->> 'metadata', '{}'),
       value ->> 'created_at', value ->> 'updated_at'
  from json_each(?2)
