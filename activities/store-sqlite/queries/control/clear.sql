-- queries/control/clear.sql
delete from dream_control where namespace_id = ?1
