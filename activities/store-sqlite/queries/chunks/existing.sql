-- queries/chunks/existing.sql
select id from chunks where id in (select value from json_each(?1))
