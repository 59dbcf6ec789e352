-- queries/sqlite/read_entities.sql
-- What planning dedupe needs of entities.
select e.id, e.name, e.entity_type, e.mention_count, e.attributes, e.source_document_ids, e.source_chunk_ids,
       e.embedding_model, e.created_at, e.updated_at, v.vector
  from entities e
  left join dream_embedding v on v.entity_id = e.id
