-- queries/touched/count.sql
select count(*) as ops from dream.touched where table_name = $1 and row_id = $2
