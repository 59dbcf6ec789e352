-- queries/mind_answers/delete_of_space.sql
delete from dream_mind_answer where space_id = $1
