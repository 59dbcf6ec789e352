-- queries/namespaces/list.sql
select n.id, cast(n.namespace_id as text) as stable_id,
       coalesce(n.config_overrides ->> '$.read_only', 0) in (1, 'true') as is_read_only
  from memory_namespaces n
 where n.is_active
   and replace(cast(n.namespace_id as text), '-', '') > ?1
 order by replace(cast(n.namespace_id as text), '-', '')
 limit ?2
