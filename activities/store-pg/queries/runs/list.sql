-- queries/runs/list.sql
select run_id, realm, namespace_id, stable_namespace_id, mode, trigger, engine, workflow_id, state, waiting_for, as_of,
       started_at, heartbeat_at, finished_at, input, settings, plan_hash, audit_hash, ops_total, skip_reasons,
       last_committed_seq, error_code, report_path, manifest_sha256, review_until, sealed_at, graph_left
  from dream.run
 where ($1::uuid is null or namespace_id = $1)
   and (not $2 or finished_at is null)
 order by started_at desc, run_id desc
 limit $3
