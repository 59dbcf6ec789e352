-- queries/namespaces/insert.sql
insert into memory_namespaces (id, namespace_id, version, is_active, tenancy_mode, created_at, updated_at)
values ($1, $2, 1, true, 'shared', clock_timestamp(), clock_timestamp())
on conflict do nothing
