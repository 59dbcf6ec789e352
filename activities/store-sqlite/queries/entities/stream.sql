-- queries/entities/stream.sql
-- Live entities for the planners.
select e.id, e.name, coalesce(e.entity_type, 'CONCEPT') as entity_type, coalesce(e.mention_count, 1) as mention_count,
       coalesce(e.attributes, '{}') as attributes, coalesce(e.source_document_ids, '[]') as source_document_ids,
       coalesce(e.source_chunk_ids, '[]') as source_chunk_ids,
       case when v.entity_id is not null then coalesce(e.embedding_model, '') end as embedding_model,
       e.created_at, e.updated_at
  from entities e
  left join dream_embedding v on v.entity_id = e.id
 where e.namespace_id = ?1
   and (e.valid_until is null or datetime(e.valid_until) > datetime(?2))
