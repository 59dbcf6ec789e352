-- queries/runs/insert_khora.sql
-- Khora's own run table, kept true for whoever reads it there: the stable id, ids with dashes, Khora's words for states.
insert into khora_dream_runs (run_id, namespace_id, trigger, mode, state, started_at, heartbeat_at, last_committed_op_seq,
                              total_ops, total_decisions)
values (?1, ?2, 'manual', ?3, 'planning', ?4, ?4, -1, 0, 0)
on conflict (run_id) do update set heartbeat_at = excluded.heartbeat_at
