-- queries/runs/text_key.sql
select text_key from dream.meta where id = 1
