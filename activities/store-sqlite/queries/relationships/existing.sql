-- queries/relationships/existing.sql
select id from relationships where id in (select value from json_each(?1))
