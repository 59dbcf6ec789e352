-- queries/entities/existing.sql
select id from entities where id = any ($1)
