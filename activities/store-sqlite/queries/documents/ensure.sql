-- queries/documents/ensure.sql
-- The document that stands for an import whose chunks name none.
insert into documents (id, namespace_id, content, status, source_type, created_at, updated_at)
select value, ?1, '', 'completed', 'library', ?3, ?3
  from json_each(?2)
 where true
on conflict (id) do nothing
