-- queries/runs/text_key.sql
select text_key from dream_meta where id = 1
