-- queries/schema/dimension.sql
-- Length of the vectors: as the column says, else as any of them shows.
select coalesce(
    (select nullif(a.atttypmod, -1)
       from pg_attribute a
      where a.attrelid = to_regclass('entities') and a.attname = 'embedding'),
    (select vector_dims(embedding) from entities where embedding is not null limit 1)) as dimension
