-- queries/embeddings/write.sql
insert into dream_embedding (entity_id, namespace_id, vector)
select value ->> 'id', ?1, unhex(value ->> 'embedding')
  from json_each(?2)
 where value ->> 'embedding' is not null
on conflict (entity_id) do update set vector = excluded.vector
