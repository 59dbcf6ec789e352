-- queries/requests/delete_stops.sql
delete from dream_request where run_id = ?1 and kind in ('cancel', 'pause')
