-- queries/key_values/upsert.sql
insert into dream.key_value (id, space_id, key, body, expires_at, created_at, updated_at)
select x.id, $1, x.key, x.body, x.expires_at, x.created_at, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
       as x (id, key, body, expires_at, created_at, updated_at)
on conflict (id) do update
   set key = excluded.key, body = excluded.body, expires_at = excluded.expires_at, created_at = excluded.created_at,
       updated_at = excluded.updated_at
 where dream.key_value.space_id = excluded.space_id   -- a row of another space is not touched
