-- queries/records/load.sql
select id, collection, body, status, created_at, updated_at
  from dream_record
 where id in (select value from json_each(?2)) and +space_id = ?1   -- by key, not by space
 order by id
