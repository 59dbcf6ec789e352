-- queries/key_values/load.sql
select id, key, body, expires_at, created_at, updated_at
  from dream.key_value
 where id = any ($2) and space_id = $1
 order by id
   for update
