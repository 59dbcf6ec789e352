-- queries/schema/shape.sql
-- Which of the tables that not every store has are there now. Khora makes khora_chunks when it connects, so this is looked
-- up in each transaction that relies on it and never remembered: a table overlooked would make live chunks look dead.
select name
  from sqlite_schema
 where type = 'table' and name in ('chunks', 'khora_chunks', 'temporal_edges', 'khora_dream_runs')
