-- queries/mind_answers/find.sql
select call, body from dream.mind_answer where space_id = $1 and question = $2
