-- queries/runs/insert.sql
insert into dream_run (run_id, realm, namespace_id, stable_namespace_id, mode, trigger, engine, workflow_id, state, as_of,
                       started_at, heartbeat_at, input, settings, skip_reasons)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'planning', ?9, ?9, ?9, ?10, ?11, ?12)
