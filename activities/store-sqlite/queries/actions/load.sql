-- queries/actions/load.sql
select id, text, status, expires_at, created_at, updated_at
  from dream_action
 where id in (select value from json_each(?2)) and +space_id = ?1   -- by key, not by space
 order by id
