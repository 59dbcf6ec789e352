-- queries/pg/outbox.sql
select array_agg(namespace_id order by id) as namespace_id, array_agg(op_id order by id) as op_id,
       array_agg(direction order by id) as direction, array_agg(verbs order by id) as verbs,
       array_agg(state order by id) as state, array_agg(written_at order by id) as written_at
  from dream.outbox
 where run_id = $1
