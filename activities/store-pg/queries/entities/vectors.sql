-- queries/entities/vectors.sql
select id, vector_send(embedding) as embedding
  from entities
 where id = any ($2) and namespace_id = $1 and embedding is not null
