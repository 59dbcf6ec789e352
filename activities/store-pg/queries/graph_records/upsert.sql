-- queries/graph_records/upsert.sql
-- What an earlier batch that did not happen kept of the same op is replaced.
insert into dream.graph_record (op_id, direction, namespace_id, run_id, record, written_at)
select o.op_id, o.direction, o.namespace_id, o.run_id, x.record, clock_timestamp()
  from unnest($1::bigint[], $2::text[]) as x (id, record)
  join dream.outbox o on o.id = x.id
on conflict (op_id, direction) do update
   set record = excluded.record, written_at = excluded.written_at
