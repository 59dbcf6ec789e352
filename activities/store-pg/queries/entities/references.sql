-- queries/entities/references.sql
-- References of entities, with those that no chunk of the namespace answers to. The chunks are looked up for all rows at
-- once; row by row it would be one search of an index for each reference.
with dead as (
    select e.id, array_agg(r.chunk order by r.place) as chunks
      from entities e, unnest(e.source_chunk_ids) with ordinality r (chunk, place)
     where e.namespace_id = $1
       and not exists (select 1 from chunks_of_store c where c.id = r.chunk and c.namespace_id = $1)
     group by e.id
)
select e.id, e.valid_until is null or e.valid_until > $2 as is_live,
       coalesce(e.updated_at, e.created_at, 'epoch') as updated_at,
       cardinality(e.source_chunk_ids) as reference_count, coalesce(d.chunks, '{}') as dead,
       coalesce(e.source_document_ids, '{}') as source_document_ids
  from entities e
  left join dead d on d.id = e.id
 where e.namespace_id = $1 and cardinality(e.source_chunk_ids) > 0
