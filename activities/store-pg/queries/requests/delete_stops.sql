-- queries/requests/delete_stops.sql
delete from dream.request where run_id = $1 and kind in ('cancel', 'pause')
