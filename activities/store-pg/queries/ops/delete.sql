-- queries/ops/delete.sql
delete from dream.op where run_id = any ($1)
