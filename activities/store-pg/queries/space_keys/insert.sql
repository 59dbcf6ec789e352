-- queries/space_keys/insert.sql
insert into dream.space_key (key_hash, space_id, created_at)
values ($1, $2, clock_timestamp())
