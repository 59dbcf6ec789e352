-- queries/mind_answers/delete_of_run.sql
delete from dream_mind_answer where run_id = $1
