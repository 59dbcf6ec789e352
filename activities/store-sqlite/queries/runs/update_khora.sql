-- queries/runs/update_khora.sql
update khora_dream_runs
   set state = coalesce(?2, state), heartbeat_at = ?3,
       finished_at = case when ?4 then ?3 when ?2 in ('planning', 'applying') then null else finished_at end,
       plan_hash = coalesce(?5, plan_hash),
       total_ops = coalesce(?6, total_ops),
       last_committed_op_seq = coalesce(?7, last_committed_op_seq),
       error = case when ?8 is null then error else json_object('message', ?8) end,
       report_path = coalesce(?9, report_path),
       manifest_sha256 = coalesce(?10, manifest_sha256)
 where run_id = ?1
