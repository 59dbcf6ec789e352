-- queries/embeddings/load.sql
select e.entity_id as id, e.vector as embedding
  from dream_embedding e
 where e.entity_id in (select value from json_each(?1))
