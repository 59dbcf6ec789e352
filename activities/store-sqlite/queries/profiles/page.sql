-- queries/profiles/page.sql
select space_id as id, dream_summary, updated_at
  from dream_profile
 where space_id = ?1 and space_id > ?2
 order by space_id
 limit ?3
