-- queries/steps/find.sql
select summary from dream_step where run_id = ?1 and name = ?2
