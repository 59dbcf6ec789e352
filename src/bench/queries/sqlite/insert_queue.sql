-- queries/sqlite/insert_queue.sql
insert into dream_outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select ?2, ?1, value ->> 'op_id', 'apply', value ->> 'verbs', 'open', '2026-06-01T00:00:00.000000+00:00'
  from json_each(?3)
 order by key
