-- queries/records/page.sql
select id, collection, body, status, created_at, updated_at
  from dream_record
 where space_id = ?1 and id > ?2
 order by id
 limit ?3
