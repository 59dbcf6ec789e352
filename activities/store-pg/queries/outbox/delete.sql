-- queries/outbox/delete.sql
delete from dream.outbox where run_id = any ($1)
