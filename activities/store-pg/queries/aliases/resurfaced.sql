-- queries/aliases/resurfaced.sql
-- Absorbed entities whose row lives again, was mentioned again, or has a live edge again, here or, where it is named, in the graph.
select absorbed_id, canonical_id, name, entity_type, is_live, mention_count, mention_count_seen, updated_at, source_document_ids,
       edges_live
  from (select a.absorbed_id, a.canonical_id, e.name, coalesce(e.entity_type, 'CONCEPT') as entity_type,
               e.valid_until is null or e.valid_until > $2 as is_live,
               coalesce(e.mention_count, 1)::bigint as mention_count, a.mention_count_seen,
               coalesce(e.updated_at, e.created_at, 'epoch') as updated_at,
               coalesce(e.source_document_ids, '{}') as source_document_ids,
               (select count(*)
                  from relationships r
                 where r.namespace_id = $1 and (r.source_entity_id = a.absorbed_id or r.target_entity_id = a.absorbed_id)
                   and r.valid_to is null and r.invalidated_at is null
                   and (r.valid_until is null or r.valid_until > $2)) as edges_live
          from dream.alias a
          join entities e on e.id = a.absorbed_id and e.namespace_id = $1
         where a.namespace_id = $1) x
 where is_live or mention_count > mention_count_seen or edges_live > 0 or absorbed_id = any ($3)
 order by absorbed_id
