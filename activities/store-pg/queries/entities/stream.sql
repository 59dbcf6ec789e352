-- queries/entities/stream.sql
-- Live entities for the planners. Moments that a migrated store may leave null are as old as can be.
select e.id, e.name, coalesce(e.entity_type, 'CONCEPT') as entity_type, coalesce(e.mention_count, 1)::bigint as mention_count,
       coalesce(e.attributes::text, '{}') as attributes, coalesce(e.source_document_ids, '{}') as source_document_ids,
       coalesce(e.source_chunk_ids, '{}') as source_chunk_ids,
       case when e.embedding is not null then coalesce(e.embedding_model, '') end as embedding_model,
       coalesce(e.created_at, 'epoch') as created_at, coalesce(e.updated_at, e.created_at, 'epoch') as updated_at
  from entities e
 where e.namespace_id = $1
   and (e.valid_until is null or e.valid_until > $2)
