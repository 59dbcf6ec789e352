-- queries/facts/count.sql
select count(*) as facts from dream.fact where id = any ($2) and space_id = $1
