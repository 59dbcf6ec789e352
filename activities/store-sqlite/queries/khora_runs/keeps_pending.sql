-- queries/khora_runs/keeps_pending.sql
-- Whether Khora's run table is there, of a version that notes what the graph still lacks.
select count(*) > 0 as keeps_pending from pragma_table_info('khora_dream_runs') where name = 'graph_mirror_pending'
