-- queries/entities/load.sql
select id, name, entity_type, description, attributes, source_document_ids, source_chunk_ids, mention_count, embedding_model,
       valid_until, confidence, metadata, created_at, updated_at
  from entities
 where id in (select value from json_each(?2)) and +namespace_id = ?1   -- by key, not by namespace
 order by id
