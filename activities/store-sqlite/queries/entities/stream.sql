-- queries/entities/stream.sql
-- Live entities for the planners. Moments that a migrated store may leave null are as old as can be.
select e.id, e.name, coalesce(e.entity_type, 'CONCEPT') as entity_type, coalesce(e.mention_count, 1) as mention_count,
       coalesce(e.attributes, '{}') as attributes, coalesce(e.source_document_ids, '[]') as source_document_ids,
       coalesce(e.source_chunk_ids, '[]') as source_chunk_ids,
       case when v.entity_id is not null then coalesce(e.embedding_model, '') end as embedding_model,
       coalesce(e.created_at, '1970-01-01T00:00:00.000000+00:00') as created_at,
       coalesce(e.updated_at, e.created_at, '1970-01-01T00:00:00.000000+00:00') as updated_at
  from entities e
  left join dream_embedding v on v.entity_id = e.id
 where e.namespace_id = ?1
   and (e.valid_until is null or datetime(e.valid_until) > datetime(?2))
