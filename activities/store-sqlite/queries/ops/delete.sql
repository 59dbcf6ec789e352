-- queries/ops/delete.sql
delete from dream_op where run_id = ?1
