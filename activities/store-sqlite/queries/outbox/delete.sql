-- queries/outbox/delete.sql
delete from dream_outbox where run_id in (select value from json_each(?1))
