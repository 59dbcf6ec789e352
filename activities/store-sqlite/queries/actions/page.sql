-- queries/actions/page.sql
select id, text, status, expires_at, created_at, updated_at
  from dream_action
 where space_id = ?1 and id > ?2
 order by id
 limit ?3
