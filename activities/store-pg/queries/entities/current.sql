-- queries/entities/current.sql
-- Rows as they stand, not locked: whoever asks does not write them.
select id, name, entity_type, description, attributes::text as attributes, source_document_ids, source_chunk_ids,
       mention_count::bigint as mention_count, embedding_model, valid_until, confidence, metadata::text as metadata, created_at,
       updated_at
  from entities
 where id = any ($2) and namespace_id = $1
 order by id
