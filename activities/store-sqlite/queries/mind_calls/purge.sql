-- queries/mind_calls/purge.sql
delete from dream_mind_call where called_at < $1
