-- queries/chunks/export_khora.sql
select id, document_id, content, created_at, null as last_accessed_at
  from khora_chunks
 where namespace_id = ?1
 order by id
