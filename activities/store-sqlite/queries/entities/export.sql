-- queries/entities/export.sql
select e.id, e.name, e.entity_type, e.description, e.attributes, e.source_document_ids, e.source_chunk_ids, e.mention_count,
       e.embedding_model, e.valid_until, e.confidence, e.metadata, e.created_at, e.updated_at, v.vector as embedding
  from entities e
  left join dream_embedding v on v.entity_id = e.id
 where e.namespace_id = ?1
 order by e.id
