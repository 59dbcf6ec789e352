-- queries/actions/load.sql
select id, text, status, expires_at, created_at, updated_at
  from dream.action
 where id = any ($2) and space_id = $1
 order by id
   for update
