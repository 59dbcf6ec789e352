-- queries/chunks/recalls.sql
-- The newest recall of a chunk that the entity was extracted from.
select e.id, max(c.last_accessed_at) as recalled_at
  from entities e, json_each(e.source_chunk_ids) r
  join chunks c on c.id = replace(r.value, '-', '') and +c.namespace_id = ?1
 where e.namespace_id = ?1 and json_valid(e.source_chunk_ids) and e.id in (select value from json_each(?2))
 group by e.id
