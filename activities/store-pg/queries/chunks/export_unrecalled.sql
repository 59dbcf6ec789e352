-- queries/chunks/export_unrecalled.sql
-- The same, from a table that does not know when a chunk was recalled.
select id, document_id, content, coalesce(created_at, 'epoch') as created_at, null::timestamptz as last_accessed_at
  from chunks
 where namespace_id = $1
 order by id
