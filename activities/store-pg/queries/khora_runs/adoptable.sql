-- queries/khora_runs/adoptable.sql
-- Namespaces for which a run of Khora's left something. Khora's rows carry whichever id a caller gave.
select n.id
  from memory_namespaces n
 where n.is_active
   and ($1::uuid is null or n.id > $1)
   and exists (select 1
                 from khora_dream_runs k
                where k.namespace_id in (n.namespace_id, n.id)
                  and k.graph_mirror_pending::text not in ('[]', 'null'))
 order by n.id
 limit $2
