-- queries/profiles/load.sql
select space_id as id, dream_summary, updated_at
  from dream.profile
 where space_id = any ($2) and space_id = $1
 order by space_id
   for update
