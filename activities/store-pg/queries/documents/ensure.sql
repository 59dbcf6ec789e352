-- queries/documents/ensure.sql
-- The documents of imported chunks; an import whose chunks name none has one of its own.
insert into documents (id, namespace_id, content, status, source_type, created_at, updated_at)
select x.id, $1, '', 'completed', 'library', $3, $3
  from unnest($2::uuid[]) as x (id)
on conflict (id) do nothing
