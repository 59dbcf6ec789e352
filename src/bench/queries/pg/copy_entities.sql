-- queries/pg/copy_entities.sql
-- What planning dedupe needs of entities.
copy (select id, name, entity_type, mention_count, attributes, source_document_ids, source_chunk_ids, embedding_model,
             created_at, updated_at, embedding
        from entities)
  to stdout (format binary)
