-- queries/records/upsert.sql
insert into dream.record (id, space_id, collection, body, status, created_at, updated_at)
select x.id, $1, x.collection, x.body, x.status, x.created_at, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
       as x (id, collection, body, status, created_at, updated_at)
on conflict (id) do update
   set collection = excluded.collection, body = excluded.body, status = excluded.status,
       created_at = excluded.created_at, updated_at = excluded.updated_at
 where dream.record.space_id = excluded.space_id   -- a row of another space is not touched
