-- queries/entities/find.sql
select id, name, entity_type, description, attributes::text as attributes, source_document_ids, source_chunk_ids,
       mention_count::bigint as mention_count, embedding_model, valid_until, confidence, metadata::text as metadata, created_at,
       updated_at,
       vector_send(embedding) as embedding
  from entities
 where id = $1
