-- queries/sqlite/insert_undo.sql
insert into dream_undo (op_id, run_id, seq, record, applied_at)
select op_id, run_id, seq, record, applied_at
  from done.dream_undo
 where run_id = ?1
 order by seq
