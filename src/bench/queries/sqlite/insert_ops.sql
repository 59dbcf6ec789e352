-- queries/sqlite/insert_ops.sql
insert into dream_op (run_id, seq, op_id, content_key, cluster, kind, state, draft)
select ?1, value ->> 'seq', value ->> 'op_id', value ->> 'op_id', ?2, 'dedupe_entities', 'applied', '{}'
  from json_each(?3)
