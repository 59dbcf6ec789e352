-- queries/khora_runs/keeps_pending.sql
-- Whether Khora's run table is there, of a version that notes what the graph still lacks.
select exists (select 1
                 from pg_attribute
                where attrelid = to_regclass('khora_dream_runs')
                  and attname = 'graph_mirror_pending'
                  and not attisdropped) as keeps_pending
