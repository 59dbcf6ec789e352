-- queries/steps/find.sql
select summary from dream.step where run_id = $1 and name = $2
