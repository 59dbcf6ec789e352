-- queries/journal/upsert.sql
insert into dream.journal (id, space_id, kind, starts_on, text, created_at, updated_at)
select x.id, $1, x.kind, x.starts_on, x.text, x.created_at, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
       as x (id, kind, starts_on, text, created_at, updated_at)
on conflict (id) do update
   set kind = excluded.kind, starts_on = excluded.starts_on, text = excluded.text, created_at = excluded.created_at,
       updated_at = excluded.updated_at
 where dream.journal.space_id = excluded.space_id   -- a row of another space is not touched
