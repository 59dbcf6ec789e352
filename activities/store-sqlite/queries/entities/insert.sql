-- queries/entities/insert.sql
insert into entities (id, namespace_id, name, entity_type, description, attributes, source_document_ids, source_chunk_ids,
                      mention_count, embedding_model, valid_until, confidence, metadata, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'name', value ->> 'entity_type', coalesce(value ->> 'description', ''),
       coalesce(value ->> 'attributes', '{}'), coalesce(value ->> 'source_document_ids', '[]'),
       coalesce(value ->> 'source_chunk_ids', '[]'), coalesce(value ->> 'mention_count', 1),
       coalesce(value ->> 'embedding_model', ''), value ->> 'valid_until', coalesce(value ->> 'confidence', 1.0),
       coalesce(value ->> 'metadata', '{}'), value ->> 'created_at', value ->> 'updated_at'
  from json_each(?2)
