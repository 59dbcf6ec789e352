-- queries/namespaces/insert.sql
insert into memory_namespaces (id, namespace_id, version, is_active, tenancy_mode, created_at, updated_at)
values (?1, ?2, 1, 1, 'shared', ?3, ?3)
on conflict do nothing
