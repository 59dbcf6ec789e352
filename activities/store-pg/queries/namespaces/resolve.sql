-- queries/namespaces/resolve.sql
-- Either id names the namespace; a stable id names its active version, and comes first should both be taken.
select id, namespace_id as stable_id,
       coalesce(config_overrides ->> 'read_only', 'false') in ('1', 'true') as is_read_only
  from memory_namespaces
 where is_active and (namespace_id = $1 or id = $1)
 order by (namespace_id = $1) desc
 limit 1
