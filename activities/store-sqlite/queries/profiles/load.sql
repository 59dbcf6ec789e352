-- queries/profiles/load.sql
select space_id as id, dream_summary, updated_at
  from dream_profile
 where space_id in (select value from json_each(?2)) and +space_id = ?1   -- by key, not by space
 order by space_id
