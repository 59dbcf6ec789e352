-- queries/runs/lock.sql
-- Locked: requests of one run are recorded one after the other, so that the second of two that exclude each other loses.
select run_id, realm, namespace_id, stable_namespace_id, mode, trigger, engine, workflow_id, state, waiting_for, as_of,
       started_at, heartbeat_at, finished_at, input, settings, plan_hash, audit_hash, ops_total, skip_reasons,
       last_committed_seq, error_code, report_path, manifest_sha256, review_until, sealed_at, graph_left
  from dream.run
 where run_id = $1
   for update
