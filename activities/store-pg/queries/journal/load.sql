-- queries/journal/load.sql
select id, kind, starts_on, text, created_at, updated_at
  from dream.journal
 where id = any ($2) and space_id = $1
 order by id
   for update
