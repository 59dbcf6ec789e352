-- queries/records/load.sql
select id, collection, body, status, created_at, updated_at
  from dream.record
 where id = any ($2) and space_id = $1
 order by id
   for update
