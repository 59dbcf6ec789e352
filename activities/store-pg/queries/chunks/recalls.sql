-- queries/chunks/recalls.sql
-- The newest recall of a chunk that the entity was extracted from.
select e.id, max(c.last_accessed_at) as recalled_at
  from entities e, unnest(e.source_chunk_ids) r (chunk)
  join chunks c on c.id = r.chunk and c.namespace_id = $1
 where e.namespace_id = $1 and e.id = any ($2)
 group by e.id
