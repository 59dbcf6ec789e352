-- queries/namespaces/list.sql
select id, namespace_id as stable_id,
       coalesce(config_overrides ->> 'read_only', 'false') in ('1', 'true') as is_read_only
  from memory_namespaces
 where is_active and ($1::uuid is null or namespace_id > $1)
 order by namespace_id
 limit $2
