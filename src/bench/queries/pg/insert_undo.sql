-- queries/pg/insert_undo.sql
insert into dream.undo (op_id, run_id, seq, record, applied_at)
select x.op_id, $1, x.seq, x.record, x.applied_at
  from unnest($2, $3, $4, $5) as x (op_id, seq, record, applied_at)
