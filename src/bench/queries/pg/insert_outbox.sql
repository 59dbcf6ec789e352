-- queries/pg/insert_outbox.sql
insert into dream.outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select x.namespace_id, $1, x.op_id, x.direction, x.verbs, x.state, x.written_at
  from unnest($2, $3, $4, $5, $6, $7) as x (namespace_id, op_id, direction, verbs, state, written_at)
