-- queries/records/page.sql
select id, collection, body, status, created_at, updated_at
  from dream.record
 where space_id = $1 and ($2::uuid is null or id > $2)
 order by id
 limit $3
