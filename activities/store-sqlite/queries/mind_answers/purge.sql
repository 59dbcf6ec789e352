-- queries/mind_answers/purge.sql
delete from dream_mind_answer where answered_at < $1
