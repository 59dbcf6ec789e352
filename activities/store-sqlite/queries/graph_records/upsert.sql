-- queries/graph_records/upsert.sql
-- What an earlier batch that did not happen kept of the same op is replaced. Each row is found by its key, one by one,
-- and its record, which is long, is not parsed a second time.
insert into dream_graph_record (op_id, direction, namespace_id, run_id, record, written_at)
select o.op_id, o.direction, o.namespace_id, o.run_id, x.value, ?2
  from json_each(?1) x
 cross join dream_outbox o on o.id = cast(x.key as integer)
 where true
on conflict (op_id, direction) do update
   set record = excluded.record, written_at = excluded.written_at
