-- queries/key_values/delete_expired.sql
delete from dream.key_value where space_id = $1 and expires_at <= $2
