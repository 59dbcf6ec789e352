-- queries/chunks/insert.sql
insert into chunks (id, namespace_id, document_id, content, created_at, last_accessed_at)
select x.id, $1, x.document_id, x.content, x.created_at, x.last_accessed_at
  from unnest($2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[])
       as x (id, document_id, content, created_at, last_accessed_at)
