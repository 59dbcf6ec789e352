-- queries/undo/insert.sql
insert into dream.undo (op_id, run_id, seq, record, applied_at)
select x.op_id, $1, x.seq, x.record, $5
  from unnest($2::uuid[], $3::integer[], $4::text[]) with ordinality as x (op_id, seq, record, place)
 order by x.place
