-- queries/facts/page.sql
select id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at, updated_at, expires_at,
       superseded_by, source
  from dream_fact
 where space_id = ?1 and id > ?2
 order by id
 limit ?3
