-- queries/actions/upsert.sql
insert into dream.action (id, space_id, text, status, expires_at, created_at, updated_at)
select x.id, $1, x.text, x.status, x.expires_at, x.created_at, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
       as x (id, text, status, expires_at, created_at, updated_at)
on conflict (id) do update
   set text = excluded.text, status = excluded.status, expires_at = excluded.expires_at,
       created_at = excluded.created_at, updated_at = excluded.updated_at
 where dream.action.space_id = excluded.space_id   -- a row of another space is not touched
