-- queries/requests/delete.sql
delete from dream.request where run_id = $1 and kind = $2
