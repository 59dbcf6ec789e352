-- queries/profiles/page.sql
select space_id as id, dream_summary, updated_at
  from dream.profile
 where space_id = $1 and ($2::uuid is null or space_id > $2)
 order by space_id
 limit $3
