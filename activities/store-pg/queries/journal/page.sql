-- queries/journal/page.sql
select id, kind, starts_on, text, created_at, updated_at
  from dream.journal
 where space_id = $1 and ($2::uuid is null or id > $2)
 order by id
 limit $3
