-- queries/control/clear.sql
delete from dream.control where namespace_id is not distinct from $1
