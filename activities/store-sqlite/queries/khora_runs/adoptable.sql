-- queries/khora_runs/adoptable.sql
-- Namespaces for which a run of Khora's left something. Khora's rows carry whichever id a caller gave, with dashes or without.
select distinct n.id
  from memory_namespaces n
  join khora_dream_runs k
    on replace(k.namespace_id, '-', '') in (n.id, replace(cast(n.namespace_id as text), '-', ''))
 where n.is_active
   and n.id > ?1
   and cast(k.graph_mirror_pending as text) not in ('[]', 'null', '')
 order by n.id
 limit ?2
