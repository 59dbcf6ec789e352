-- queries/mind_answers/delete_of_call.sql
delete from dream_mind_answer where run_id = $1 and call = $2
