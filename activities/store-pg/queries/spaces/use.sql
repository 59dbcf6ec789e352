-- queries/spaces/use.sql
update dream.space set last_used_at = clock_timestamp() where id = $1
