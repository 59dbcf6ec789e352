-- queries/facts/load.sql
select id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at, updated_at, expires_at,
       superseded_by, source
  from dream_fact
 where id in (select value from json_each(?2)) and +space_id = ?1   -- by key, not by space
 order by id
