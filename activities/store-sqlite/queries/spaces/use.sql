-- queries/spaces/use.sql
update dream_space set last_used_at = ?2 where id = ?1
