-- queries/key_values/upsert.sql
insert into dream_key_value (id, space_id, key, body, expires_at, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'key', value ->> 'body', value ->> 'expires_at', value ->> 'created_at',
       value ->> 'updated_at'
  from json_each(?2)
 where true
on conflict (id) do update
   set key = excluded.key, body = excluded.body, expires_at = excluded.expires_at, created_at = excluded.created_at,
       updated_at = excluded.updated_at
 where dream_key_value.space_id = excluded.space_id   -- a row of another space is not touched
