-- queries/chunks/export.sql
select id, document_id, content, created_at, last_accessed_at from chunks where namespace_id = ?1 order by id
