-- queries/space_keys/find.sql
-- All that begin with some bytes, between the first and the last such hash; the hashes themselves are compared elsewhere.
select key_hash, space_id from dream_space_key where key_hash >= ?1 and key_hash <= ?2
