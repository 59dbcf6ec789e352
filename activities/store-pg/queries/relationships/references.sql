-- queries/relationships/references.sql
-- References of relationships, with those that no chunk of the namespace answers to; see entities/references.sql.
with dead as (
    select e.id, array_agg(r.chunk order by r.place) as chunks
      from relationships e, unnest(e.source_chunk_ids) with ordinality r (chunk, place)
     where e.namespace_id = $1
       and not exists (select 1 from chunks_of_store c where c.id = r.chunk and c.namespace_id = $1)
     group by e.id
)
select e.id,
       e.valid_to is null and e.invalidated_at is null and (e.valid_until is null or e.valid_until > $2) as is_live,
       coalesce(e.updated_at, e.created_at, 'epoch') as updated_at,
       cardinality(e.source_chunk_ids) as reference_count, coalesce(d.chunks, '{}') as dead,
       coalesce(e.source_document_ids, '{}') as source_document_ids,
       e.source_entity_id, e.target_entity_id
  from relationships e
  left join dead d on d.id = e.id
 where e.namespace_id = $1 and cardinality(e.source_chunk_ids) > 0
