-- queries/entities/existing.sql
select id from entities where id in (select value from json_each(?1))
