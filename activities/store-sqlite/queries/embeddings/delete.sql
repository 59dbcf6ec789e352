-- queries/embeddings/delete.sql
delete from dream_embedding where entity_id in (select value from json_each(?1))
