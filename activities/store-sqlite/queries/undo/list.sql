-- queries/undo/list.sql
select op_id, seq, record
  from dream_undo
 where run_id = ?1 and seq > ?2
 order by seq
 limit ?3
