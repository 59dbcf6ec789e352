-- queries/journal/load.sql
select id, kind, starts_on, text, created_at, updated_at
  from dream_journal
 where id in (select value from json_each(?2)) and +space_id = ?1   -- by key, not by space
 order by id
