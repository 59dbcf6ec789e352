-- queries/runs/delete.sql
-- Its steps, findings and requests go with it.
delete from dream.run where run_id = any ($1)
