-- queries/khora_runs/lock_pending.sql
-- What runs of Khora's left, by either id of their namespace, oldest first.
select run_id, graph_mirror_pending::text as pending
  from khora_dream_runs
 where namespace_id in ($1, $2)
   and graph_mirror_pending::text not in ('[]', 'null')
 order by started_at, run_id
   for update
