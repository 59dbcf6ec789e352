-- queries/ops/insert.sql
insert into dream_op (run_id, seq, op_id, content_key, cluster, kind, state, reason, draft)
select ?1, value ->> 'seq', value ->> 'op_id', value ->> 'content_key', value ->> 'cluster', value ->> 'kind',
       value ->> 'state', value ->> 'reason', value ->> 'draft'
  from json_each(?2)
