-- queries/embeddings/stream.sql
select entity_id as id, vector
  from dream_embedding
 where entity_id in (select value from json_each(?2)) and +namespace_id = ?1   -- by key, not by namespace
