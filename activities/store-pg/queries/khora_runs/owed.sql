-- queries/khora_runs/owed.sql
-- The stable id of a namespace for which a run of Khora's left something. Khora's rows carry whichever id a caller gave.
select n.namespace_id as stable_id
  from memory_namespaces n
 where n.id = $1
   and n.is_active
   and exists (select 1
                 from khora_dream_runs k
                where k.namespace_id in (n.namespace_id, n.id)
                  and k.graph_mirror_pending::text not in ('[]', 'null'))
