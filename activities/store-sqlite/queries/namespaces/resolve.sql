-- queries/namespaces/resolve.sql
-- Either id names the namespace; a stable id names its active version, and comes first should both be taken. The column is compared as text: in Khora's file it
-- has numeric affinity.
select n.id, cast(n.namespace_id as text) as stable_id,
       coalesce(n.config_overrides ->> '$.read_only', 0) in (1, 'true') as is_read_only
  from memory_namespaces n
 where n.is_active
   and (n.id = ?1 or cast(n.namespace_id as text) = ?1 or cast(n.namespace_id as text) = ?2)
 order by n.id = ?1
 limit 1
