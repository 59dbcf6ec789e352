-- queries/drafts/delete.sql
delete from dream.draft where run_id = any ($1)
