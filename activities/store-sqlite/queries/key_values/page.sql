-- queries/key_values/page.sql
select id, key, body, expires_at, created_at, updated_at
  from dream_key_value
 where space_id = ?1 and id > ?2
 order by id
 limit ?3
