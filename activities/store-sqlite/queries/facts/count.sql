-- queries/facts/count.sql
select count(*) as facts from dream_fact where id in (select value from json_each(?2)) and space_id = ?1
