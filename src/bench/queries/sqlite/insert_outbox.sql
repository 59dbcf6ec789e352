-- queries/sqlite/insert_outbox.sql
insert into dream_outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select namespace_id, run_id, op_id, direction, verbs, state, written_at
  from done.dream_outbox
 where run_id = ?1
 order by id
