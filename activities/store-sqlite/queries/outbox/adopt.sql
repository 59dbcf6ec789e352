-- queries/outbox/adopt.sql
-- What a run of Khora's left, in the order of its ops. One that is in the queue already was taken over before: Khora notes it
-- anew as often as it fails.
insert into dream_outbox (namespace_id, run_id, op_id, direction, verbs, state, written_at)
select ?1, ?2, value ->> 'op_id', 'apply', value ->> 'verbs', 'open', coalesce(value ->> 'written_at', ?4)
  from json_each(?3)
 where value ->> 'op_id' not in (select op_id from dream_outbox)
 order by key
