-- queries/space_keys/find.sql
select space_id from dream.space_key where key_hash = $1
