-- queries/schema/shape.sql
-- Which of the tables that not every store has are there now. Khora makes khora_chunks when it connects, so this is looked
-- up in each transaction that relies on it and never remembered: a table overlooked would make live chunks look dead.
select to_regclass('chunks') is not null as has_chunks, to_regclass('khora_chunks') is not null as has_khora_chunks,
       to_regclass('temporal_edges') is not null as has_temporal_edges,
       to_regclass('khora_dream_runs') is not null as has_khora_runs
