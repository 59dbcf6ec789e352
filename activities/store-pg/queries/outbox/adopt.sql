-- queries/outbox/adopt.sql
-- What a run of Khora's left, in the order of its ops. One that is in the queue already was taken over before: Khora notes it
-- anew as often as it fails.
insert into dream.outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select $1, $2, x.op_id, 'apply', x.verbs, 'open', coalesce(x.written_at, clock_timestamp())
  from unnest($3::uuid[], $4::text[], $5::timestamptz[]) with ordinality as x (op_id, verbs, written_at, place)
 where not exists (select 1 from dream.outbox o where o.op_id = x.op_id)
 order by x.place
