-- queries/steps/list.sql
select name, summary from dream.step where run_id = $1 order by name
