-- queries/outbox/insert.sql
insert into dream_outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select ?1, ?2, value ->> 'op_id', ?4, value ->> 'verbs', ?5, ?6
  from json_each(?3)
 order by key
