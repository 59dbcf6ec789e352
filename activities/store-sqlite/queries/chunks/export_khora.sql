-- queries/chunks/export_khora.sql
select id, document_id, content, coalesce(created_at, '1970-01-01T00:00:00.000000+00:00') as created_at, null as last_accessed_at
  from khora_chunks
 where namespace_id = ?1
 order by id
