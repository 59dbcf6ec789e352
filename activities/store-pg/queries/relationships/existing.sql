-- queries/relationships/existing.sql
select id from relationships where id = any ($1)
