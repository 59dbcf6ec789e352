-- queries/chunks/export_khora.sql
select id, document_id, content, coalesce(created_at, 'epoch') as created_at, null::timestamptz as last_accessed_at
  from khora_chunks
 where namespace_id = $1
 order by id
