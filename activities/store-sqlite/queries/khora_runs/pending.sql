-- queries/khora_runs/pending.sql
-- What runs of Khora's left for a namespace, oldest first. Their rows carry whichever of its ids a caller gave, with dashes or
-- without.
select k.run_id, cast(k.graph_mirror_pending as text) as pending
  from khora_dream_runs k
  join memory_namespaces n
    on replace(k.namespace_id, '-', '') in (n.id, replace(cast(n.namespace_id as text), '-', ''))
 where n.id = ?1
   and n.is_active
   and cast(k.graph_mirror_pending as text) not in ('[]', 'null', '')
 order by k.started_at, k.run_id
