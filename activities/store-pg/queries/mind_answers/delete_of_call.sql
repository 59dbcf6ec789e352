-- queries/mind_answers/delete_of_call.sql
delete from dream.mind_answer where run_id = $1 and call = $2
