-- queries/drafts/delete_others.sql
-- Drafts of attempts that were given up.
delete from dream.draft where run_id = $1 and planner = $2 and epoch <> $3
