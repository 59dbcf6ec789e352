-- queries/undo/insert.sql
insert into dream_undo (op_id, run_id, seq, record, applied_at)
select value ->> 'op_id', ?1, value ->> 'seq', value ->> 'record', ?3
  from json_each(?2)
 order by key   -- the order of the records is the order in which ops were applied
