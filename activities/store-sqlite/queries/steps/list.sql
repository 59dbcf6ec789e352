-- queries/steps/list.sql
select name, summary from dream_step where run_id = ?1 order by name
