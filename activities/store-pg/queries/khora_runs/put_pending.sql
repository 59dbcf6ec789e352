-- queries/khora_runs/put_pending.sql
update khora_dream_runs set graph_mirror_pending = $2::text::jsonb where run_id = $1
