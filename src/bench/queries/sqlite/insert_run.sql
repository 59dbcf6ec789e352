-- queries/sqlite/insert_run.sql
-- A run that is over.
insert into dream_run (run_id, realm, namespace_id, stable_namespace_id, mode, trigger, engine, state, as_of, started_at,
                       heartbeat_at, finished_at, input, settings)
values (?1, 'graph', ?2, ?2, 'apply', 'manual', 'local', 'completed', '2026-01-01T00:00:00.000000+00:00',
        '2026-01-01T00:00:00.000000+00:00', '2026-01-01T00:00:00.000000+00:00', '2026-01-01T00:00:00.000000+00:00', '{}', '{}')
