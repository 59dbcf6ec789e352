-- queries/journal/page.sql
select id, kind, starts_on, text, created_at, updated_at
  from dream_journal
 where space_id = ?1 and id > ?2
 order by id
 limit ?3
