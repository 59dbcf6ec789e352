-- queries/facts/load.sql
select id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at, updated_at, expires_at,
       superseded_by, source
  from dream.fact
 where id = any ($2) and space_id = $1
 order by id
   for update
