-- queries/chunks/export_unrecalled.sql
select id, document_id, content, created_at, null as last_accessed_at
  from chunks
 where namespace_id = ?1
 order by id
