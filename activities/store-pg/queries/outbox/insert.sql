-- queries/outbox/insert.sql
-- In the order of the ops: what was decided first is told first.
insert into dream.outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select $1, $2, x.op_id, $5, x.verbs, $6, $7
  from unnest($3::uuid[], $4::text[]) with ordinality as x (op_id, verbs, place)
 order by x.place
