-- queries/chunks/existing.sql
select id from chunks where id = any ($1)
