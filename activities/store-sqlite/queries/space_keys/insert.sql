-- queries/space_keys/insert.sql
insert into dream_space_key (key_hash, space_id, created_at)
values (?1, ?2, ?3)
