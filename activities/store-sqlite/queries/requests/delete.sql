-- queries/requests/delete.sql
delete from dream_request where run_id = ?1 and kind = ?2
