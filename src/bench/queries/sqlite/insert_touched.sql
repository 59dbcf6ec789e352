-- queries/sqlite/insert_touched.sql
-- The entities that the ops changed.
insert into dream_touched (table_name, row_id, run_id, seq)
select 'entities', r.value, ?1, x.value ->> 'seq'
  from json_each(?3) x
  join json_each(x.value, '$.rows') r
