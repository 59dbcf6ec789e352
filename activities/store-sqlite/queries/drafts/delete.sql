-- queries/drafts/delete.sql
delete from dream_draft where run_id = ?1
