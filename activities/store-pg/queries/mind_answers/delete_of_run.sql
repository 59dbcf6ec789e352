-- queries/mind_answers/delete_of_run.sql
delete from dream.mind_answer where run_id = $1
