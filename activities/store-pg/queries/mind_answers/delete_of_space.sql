-- queries/mind_answers/delete_of_space.sql
delete from dream.mind_answer where space_id = $1
