-- queries/entities/references.sql
-- References of entities, with those that no chunk of the namespace answers to.
select e.id, e.valid_until is null or datetime(e.valid_until) > datetime(?2) as is_live,
       coalesce(e.updated_at, e.created_at, '1970-01-01T00:00:00.000000+00:00') as updated_at,
       coalesce(e.source_document_ids, '[]') as source_document_ids,
       iif(json_valid(e.source_chunk_ids), json_array_length(e.source_chunk_ids), 0) as reference_count,
       (select json_group_array(r.value)
          from json_each(iif(json_valid(e.source_chunk_ids), e.source_chunk_ids, '["unreadable"]')) r
         where not exists (select 1 from chunks_of_store c
                            where c.id = replace(r.value, '-', '') and c.namespace_id = ?1)) as dead
  from entities e
 where e.namespace_id = ?1 and e.source_chunk_ids is not null and e.source_chunk_ids <> '[]'
