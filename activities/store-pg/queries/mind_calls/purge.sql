-- queries/mind_calls/purge.sql
delete from dream.mind_call where called_at < $1
