-- queries/findings/delete.sql
delete from dream.finding where run_id = $1 and kind = $2
